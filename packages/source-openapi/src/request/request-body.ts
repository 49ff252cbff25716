import { writeLosslessJson } from "@callgate/contract";
import type { HttpBody, HttpEncoding } from "../http-operation.ts";
import { badArgument } from "./bad-argument.ts";
import { writeMultipart } from "./multipart.ts";
import type { MultipartPart } from "./multipart.ts";
import { isPlainObject } from "./plain-object.ts";
import type { Arguments } from "./request-url.ts";
import { escapeReserved, escapeStrictly, pairsOf, plainValue } from "./styled-value.ts";
import { writeXml } from "./xml-body.ts";

export interface WrittenBody {
  readonly contentType: string;
  readonly content: string | Uint8Array;
}

/** The body of a request in its media type; undefined where the arguments have none. Errors: `ToolError` INVALID_INPUT. */
export function requestBody(body: HttpBody, args: Arguments): WrittenBody | undefined {
  const value = bodyValue(body, args);
  if (value === undefined) return undefined;
  const { mediaType } = body;
  const type = mediaType.toLowerCase();
  if (/[/+]json\b/.test(type)) return { contentType: mediaType, content: writeLosslessJson(value) };
  if (type.startsWith("application/x-www-form-urlencoded")) return { contentType: "application/x-www-form-urlencoded", content: formOf(body, fieldsOf(body, value)) };
  if (type.startsWith("multipart/")) return writeMultipart(mediaType, fieldsOf(body, value).flatMap(([name, field]) => partsOf(name, field, body)));
  if (/[/+]xml\b/.test(type)) return { contentType: mediaType, content: typeof value === "string" ? value : writeXml(value, body.xml ?? {}) };
  if (body.files.includes("")) return fileBody(body, value);
  return { contentType: mediaType, content: plainValue(value) };
}

function bodyValue({ from, required }: HttpBody, args: Arguments): unknown {
  if (from.kind === "whole") return args[from.argument];
  const given = from.properties.filter((name) => args[name] !== undefined);
  // An empty object is something else than no body, where one is asked for.
  return given.length === 0 && !required ? undefined : Object.fromEntries(given.map((name) => [name, args[name]]));
}

function fieldsOf({ from, mediaType }: HttpBody, value: unknown): readonly (readonly [string, unknown])[] {
  if (!isPlainObject(value)) throw badArgument(from.kind === "whole" ? from.argument : "", `The body is ${mediaType}: it needs an object, whose properties are the fields`);
  return Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
}

function formOf({ encoding }: HttpBody, fields: readonly (readonly [string, unknown])[]): string {
  const pairs = fields.flatMap(([name, value]) => {
    const styled = own(encoding, name);
    const escape = styled?.allowReserved === true ? escapeReserved : escapeStrictly;
    if (styled?.style !== undefined || styled?.explode !== undefined) {
      const style = styled.style ?? "form";
      return pairsOf({ name, value, style, explode: styled.explode ?? style === "form", escape });
    }
    // What has parts of its own is JSON unless a style says otherwise; a list is its items, one after the other.
    return (Array.isArray(value) ? value : [value]).map((item) => [escapeStrictly(name), escape(plainValue(item))] as const);
  });
  return pairs.map(([name, value]) => `${name}=${value}`.replaceAll("%20", "+")).join("&");
}

function partsOf(name: string, value: unknown, body: HttpBody): readonly MultipartPart[] {
  const { contentType } = own(body.encoding, name) ?? {};
  return (Array.isArray(value) ? value : [value]).map((item: unknown) => {
    if (body.files.includes(name)) {
      const { bytes, filename, mediaType } = fileOf(item, name);
      return { name, content: bytes, filename: filename ?? name, contentType: mediaType ?? concrete(contentType) ?? (typeof item === "string" ? "text/plain; charset=utf-8" : "application/octet-stream") };
    }
    const isStructure = typeof item === "object" && item !== null;
    const written = concrete(contentType) ?? (isStructure ? "application/json" : undefined);
    return { name, content: Buffer.from(plainValue(item)), ...(written === undefined ? {} : { contentType: written }) };
  });
}

/** Of `encoding.contentType`, which may be a list or a range. */
function concrete(contentType: string | undefined): string | undefined {
  const [first] = (contentType ?? "").split(",").map((one) => one.trim());
  return first === undefined || first === "" || first.includes("*") ? undefined : first;
}

function fileBody(body: HttpBody, value: unknown): WrittenBody {
  const { bytes, mediaType } = fileOf(value, body.from.kind === "whole" ? body.from.argument : "");
  return { contentType: mediaType ?? (body.mediaType.includes("*") ? "application/octet-stream" : body.mediaType), content: bytes };
}

interface GivenFile {
  readonly bytes: Uint8Array;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** A text, bytes, or `{ base64, filename?, mediaType? }`. */
function fileOf(value: unknown, argument: string): GivenFile {
  if (typeof value === "string") return { bytes: Buffer.from(value) };
  if (ArrayBuffer.isView(value)) return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) };
  if (!isPlainObject(value) || typeof value["base64"] !== "string") throw badArgument(argument, `"${argument}" is a file: give its text, or { base64, filename?, mediaType? }`);
  const { base64, filename, mediaType } = value;
  // Node reads as far as it can and says nothing of the rest.
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw badArgument(argument, `"${argument}".base64 is no base64 (the usual alphabet, with padding)`);
  return { bytes: Buffer.from(base64, "base64"), ...(typeof filename === "string" ? { filename } : {}), ...(typeof mediaType === "string" ? { mediaType } : {}) };
}

function own(encoding: HttpBody["encoding"], name: string): HttpEncoding | undefined {
  return encoding !== undefined && Object.hasOwn(encoding, name) ? encoding[name] : undefined;
}

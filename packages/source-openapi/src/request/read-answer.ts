import { parseLosslessJson } from "@callgate/contract";
import type { ArtifactInput } from "@callgate/contract";
import { bareType, isJsonType, isTextType, isXmlType, textOf } from "@callgate/http-client";
import type { HttpAnswer } from "@callgate/http-client";
import { readXml } from "./xml-body.ts";

/** What a program gets of an answer. */
export interface ReadAnswer {
  readonly value: unknown;
  readonly artifacts: readonly ArtifactInput[];
}

/**
 * Reads the body of an answer by its media type: JSON as the value it is (whole numbers beyond 2^53 as BigInt), XML as plain
 * data, text as text, nothing as `null`. Any other body is an artifact, and the value names it:
 * `{ artifact, mediaType, sizeBytes }`. A body that is not what its media type says comes as text.
 */
export function readAnswer({ bytes, headers, url }: HttpAnswer): ReadAnswer {
  if (bytes.byteLength === 0) return { value: null, artifacts: [] };
  const contentType = headers.get("content-type") ?? "";
  if (contentType === "" || isTextType(contentType)) {
    const text = textOf(bytes, contentType);
    // Some services name no type; what they send is nearly always JSON.
    if (contentType === "" || isJsonType(contentType)) return { value: parsed(text), artifacts: [] };
    return { value: isXmlType(contentType) ? (readXml(text) ?? text) : text, artifacts: [] };
  }
  const artifact: ArtifactInput = { name: fileName(headers, url), mimeType: bareType(contentType), bytes };
  return { value: { artifact: artifact.name, mediaType: artifact.mimeType, sizeBytes: bytes.byteLength }, artifacts: [artifact] };
}

function parsed(text: string): unknown {
  try {
    return parseLosslessJson(text);
  } catch {
    return text;
  }
}

/** Of Content-Disposition, else the last part of the path. Never a folder. */
function fileName(headers: Headers, url: URL): string {
  const disposition = headers.get("content-disposition") ?? "";
  const [, extended] = /filename\*\s*=\s*(?:UTF-8)?''([^;\s]+)/i.exec(disposition) ?? [];
  const [, plain] = /filename\s*=\s*"?([^";]+)/i.exec(disposition) ?? [];
  const given = extended === undefined ? plain : decoded(extended);
  const name = (given ?? decoded(url.pathname.split("/").at(-1) ?? "")).split(/[\\/]/).at(-1) ?? "";
  const safe = name.replaceAll(/\p{Cc}/gu, "").trim().slice(0, 120);
  return safe === "" || /^\.+$/.test(safe) ? "answer" : safe;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import { isOfTheConnection } from "@callgate/http-client";
import type { HeaderPair } from "@callgate/http-client";
import type { HttpOperation, HttpParameter } from "../http-operation.ts";
import { badArgument } from "./bad-argument.ts";
import { contentOf, valueOf } from "./request-url.ts";
import type { Arguments } from "./request-url.ts";
import { expandedOf, pairsOf } from "./styled-value.ts";

/** Headers that say who calls, or what the request really is: never a program's to set. */
const notForPrograms: ReadonlySet<string> = new Set(["authorization", "cookie", "set-cookie", "accept-encoding", "content-type", "content-encoding", "x-http-method-override", "x-http-method", "x-method-override"]);

/** Whether arguments can set a header: not those of the connection, of credentials, nor those that make it another request. */
export function isForPrograms(name: string): boolean {
  return !isOfTheConnection(name) && !notForPrograms.has(name.toLowerCase());
}

/** The headers and cookies that are parameters of an operation. Errors: `ToolError` INVALID_INPUT. */
export function parameterHeaders(operation: HttpOperation, args: Arguments): readonly HeaderPair[] {
  const headers = operation.parameters.filter((parameter) => parameter.in === "header").flatMap((parameter) => headerOf(parameter, args));
  const cookies = operation.parameters.filter((parameter) => parameter.in === "cookie").flatMap((parameter) => cookiesOf(parameter, args));
  return cookies.length === 0 ? headers : [...headers, ["cookie", cookies.join("; ")]];
}

function headerOf(parameter: HttpParameter, args: Arguments): readonly HeaderPair[] {
  const { name, argument, explode, mediaType } = parameter;
  const value = valueOf(parameter, args);
  if (value === undefined || value === null) return [];
  if (!isForPrograms(name)) throw badArgument(argument, `The header ${name} cannot be set by a call`);
  const text = mediaType === undefined ? expandedOf({ name, value, style: "simple", explode, escape: (plain) => plain }) : ascii(contentOf(value, mediaType));
  // The client refuses it as well; here the argument can be named.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw badArgument(argument, `"${argument}" goes into the header ${name}, which can hold no line break, no control character and nothing beyond U+00FF`);
  return [[name, text.trim()]];
}

function cookiesOf(parameter: HttpParameter, args: Arguments): readonly string[] {
  const { name, style, explode, mediaType } = parameter;
  const value = valueOf(parameter, args);
  if (value === undefined || value === null) return [];
  if (mediaType !== undefined) return [`${name}=${escapeCookie(contentOf(value, mediaType))}`];
  return pairsOf({ name, value, style, explode, escape: escapeCookie }).map(([key, text]) => `${key}=${text}`);
}

/** RFC 6265: what a cookie's value may not hold, and `%` so that it reads back. */
function escapeCookie(text: string): string {
  return text.toWellFormed().replaceAll(/[^\x21\x23\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/gu, (char) => encodeURIComponent(char));
}

/** JSON has an ASCII form of everything. */
function ascii(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

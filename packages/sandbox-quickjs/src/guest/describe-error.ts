import { encodeValueOnce } from "@callgate/contract";
import { programFile } from "../guest-protocol.ts";
import { charCodeAt, hasPrototype, indexOf, slice, stringify } from "./intrinsics.ts";
import { render } from "./render.ts";

const ErrorPrototype: unknown = Error.prototype;
const maxMessageChars = 16_384;
const detailBounds = { maxDepth: 50, maxNodes: 10_000, maxChars: 256 * 1024 };

/** A thrown value as the JSON of a `GuestError`. Never throws: what a getter or proxy throws is left out. */
export function describeError(thrown: unknown): string {
  if (!isError(thrown)) {
    const details = wireOf(thrown);
    return `{"name":"NonError","message":${text(render(thrown))}${details === undefined ? "" : `,"details":${details}`}}`;
  }
  const name = read(thrown, "name");
  const message = read(thrown, "message");
  let json = `{"name":${text(typeof name === "string" ? name : "Error")},"message":${text(typeof message === "string" ? message : "")}`;
  const code = read(thrown, "code");
  if (typeof code === "string") json += `,"code":${text(code)}`;
  const tool = read(thrown, "tool");
  if (typeof tool === "string") json += `,"tool":${text(tool)}`;
  const retryable = read(thrown, "retryable");
  if (typeof retryable === "boolean") json += `,"retryable":${retryable ? "true" : "false"}`;
  const details = wireOf(read(thrown, "details"));
  if (details !== undefined) json += `,"details":${details}`;
  const place = placeIn(read(thrown, "stack"));
  if (place !== undefined) json += `,"line":${place.line},"column":${place.column}`;
  return `${json}}`;
}

function isError(value: unknown): value is object {
  try {
    return typeof value === "object" && value !== null && hasPrototype(value, ErrorPrototype);
  } catch {
    return false;
  }
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function text(value: string): string {
  return stringify(value.length <= maxMessageChars ? value : `${slice(value, 0, maxMessageChars)}…`);
}

function wireOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  try {
    const wire = encodeValueOnce(value, detailBounds);
    return `{"json":${stringify(wire.json)},"tagged":${wire.tagged ? "true" : "false"}}`;
  } catch {
    return undefined;
  }
}

/** The first place in the program's own text that a stack names, from 1. */
export function placeIn(stack: unknown): { readonly line: number; readonly column: number } | undefined {
  if (typeof stack !== "string") return undefined;
  const start = indexOf(stack, `${programFile}:`);
  if (start < 0) return undefined;
  const line = numberAt(stack, start + programFile.length + 1);
  const column = numberAt(stack, line.end + 1);
  return line.value > 0 && column.value > 0 ? { line: line.value, column: column.value } : undefined;
}

function numberAt(stack: string, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (; end < stack.length; end++) {
    const code = charCodeAt(stack, end);
    if (code < 48 || code > 57) break;
    value = value * 10 + (code - 48);
  }
  return { value, end };
}

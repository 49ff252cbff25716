import { firstString, isRecord } from "./is-record.ts";

// Revision 2026-07-28 lets a tool ask that some of its arguments are sent as headers as well (`x-mcp-header` in its input
// schema), so that what stands before the server can route by them. Over HTTP that is not optional: the server compares
// both. The SDK does so in its own `callTool`, which reads listings by schemas that refuse real servers' tools.

/** One argument that is a header too. */
export interface HeaderParam {
  /** Keys from the arguments down to it. */
  readonly path: readonly string[];
  /** Without its `Mcp-Param-`. */
  readonly name: string;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The declarations of an input schema, or what is wrong with one of them: then the tool must not be offered. */
export function headerParams(schema: unknown): readonly HeaderParam[] | string {
  const found: HeaderParam[] = [];
  const fault = walk(schema, { path: [], isReachable: true, found });
  return fault ?? found;
}

interface Walk {
  readonly path: readonly string[];
  /** Reached by nothing but `properties`: elsewhere it is not known whether the argument is there. */
  readonly isReachable: boolean;
  readonly found: HeaderParam[];
}

function walk(node: unknown, { path, isReachable, found }: Walk): string | undefined {
  if (Array.isArray(node)) return firstFault(node.map((item) => walk(item, { path, isReachable: false, found })));
  if (!isRecord(node)) return undefined;
  if ("x-mcp-header" in node) {
    const name = firstString(node["x-mcp-header"]);
    const where = path.length === 0 ? "its input schema" : `its parameter ${path.join(".")}`;
    if (!isReachable || path.length === 0) return `${where} has an x-mcp-header where none may be`;
    if (name === undefined || !token.test(name)) return `${where} has an x-mcp-header that is no name of a header`;
    if (!["string", "integer", "boolean"].includes(String(node["type"]))) return `${where} has an x-mcp-header and is no string, integer or boolean`;
    if (found.some((one) => one.name.toLowerCase() === name.toLowerCase())) return `two of its parameters have the x-mcp-header ${name}`;
    found.push({ path, name });
  }
  const faults = Object.entries(node).map(([key, value]) => {
    if (key === "properties" && isRecord(value)) return firstFault(Object.entries(value).map(([name, child]) => walk(child, { path: [...path, name], isReachable, found })));
    return typeof value === "object" && !["enum", "const", "default", "examples"].includes(key) ? walk(value, { path, isReachable: false, found }) : undefined;
  });
  return firstFault(faults);
}

function firstFault(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

/** The headers of one call; arguments that are not there have none. */
export function headersOf(params: readonly HeaderParam[], args: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { path, name } of params) {
    const value = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), args);
    const text = typeof value === "string" ? value : typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
    if (text !== undefined) headers[`Mcp-Param-${name}`] = fieldValue(text);
  }
  return headers;
}

/** As it is where a header can hold it and it is not taken for the other form, else in Base64. */
function fieldValue(text: string): string {
  const isPlain = /^[\x20-\x7e\t]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

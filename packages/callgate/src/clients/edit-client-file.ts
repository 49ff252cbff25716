import { isDeepStrictEqual } from "node:util";
import { CallgateError } from "@callgate/contract";
import { stringify } from "smol-toml";
import { editJsonc } from "../config/edit-config.ts";
import type { ClientFile } from "./client-files.ts";
import { parseClientText } from "./parse-client-text.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The text of a client's file with one server put in, changed or (undefined) taken out, and everything else as it was.
 *
 * @returns the same text where nothing changes
 *
 * Errors: `CallgateError` USAGE for a file that cannot be read, or not be changed without touching more.
 */
export function editClientFile(text: string, from: ClientFile, { name, entry }: { readonly name: string; readonly entry: Json | undefined }): string {
  const before = read(text, from);
  if (isDeepStrictEqual(serverIn(before, from, name), entry)) return text;
  const edited = from.format === "toml" ? editToml(text, name, entry) : editJsonc(text, [...from.path, name], entry);
  const after = readEdited(edited, from);
  if (!isDeepStrictEqual(serverIn(after, from, name), entry) || !isDeepStrictEqual(without(before, from, name), without(after, from, name))) {
    throw new CallgateError("USAGE", `${from.file} cannot be changed without touching more than the entry "${name}"; change it by hand (--print shows what belongs there)`);
  }
  return edited;
}

/** Every other server's values that may be secret, so that they are not shown. */
export function secretsIn(text: string, from: ClientFile): readonly string[] {
  const found: string[] = [];
  for (const server of Object.values(serversIn(read(text, from), from))) {
    for (const key of ["env", "headers", "http_headers", "args", "url"]) {
      const value = isRecord(server) ? server[key] : undefined;
      found.push(...(typeof value === "string" ? [value] : Object.values(isRecord(value) || Array.isArray(value) ? value : {}).map(String)));
    }
  }
  return found.filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
}

/** Names of the other servers in a file. */
export function othersIn(text: string, from: ClientFile, name: string): readonly string[] {
  return Object.keys(serversIn(read(text, from), from)).filter((other) => other !== name);
}

/** Errors: USAGE. */
function read(text: string, { file, format }: ClientFile): Json {
  let problem = "holds no object";
  try {
    const value = parseClientText(text, format);
    if (value === undefined) return {};
    if (isRecord(value)) return value;
  } catch (fault) {
    problem = fault instanceof Error ? fault.message : String(fault);
  }
  throw new CallgateError("USAGE", `${file} ${problem}, so nothing is written into it; mend it first, or write the entry by hand (--print)`);
}

/** What was edited may be broken by it: then it is not what was meant. */
function readEdited(text: string, from: ClientFile): Json {
  try {
    return read(text, from);
  } catch {
    return {};
  }
}

function serversIn(root: Json, { path }: ClientFile): Json {
  const servers = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), root);
  return isRecord(servers) ? servers : {};
}

function serverIn(root: Json, from: ClientFile, name: string): unknown {
  return serversIn(root, from)[name];
}

/** A copy without the entry, and without the records that held nothing else. */
function without(root: unknown, { path }: Pick<ClientFile, "path">, name: string): unknown {
  const [key, ...rest] = [...path, name];
  if (!isRecord(root) || key === undefined) return root;
  const { [key]: inner, ...others } = root;
  if (rest.length === 0 || inner === undefined) return others;
  const kept = without(inner, { path: rest.slice(0, -1) }, name);
  return isRecord(kept) && Object.keys(kept).length === 0 ? others : { ...others, [key]: kept };
}

/**
 * A table goes from its head to the next head; comments above that are the next one's. What this misreads (a head inside of a
 * text) is noticed afterwards.
 */
function editToml(text: string, name: string, entry: Json | undefined): string {
  const own = new RegExp(String.raw`^\s*\[\s*mcp_servers\s*\.\s*(?:"${escaped(name)}"|${escaped(name)})\s*(?:\.[^\]]*)?\]`);
  const kept: string[] = [];
  let isOwn = false;
  let comments: string[] = [];
  for (const line of text.split("\n")) {
    if (/^\s*\[/.test(line)) {
      const wasOwn = isOwn;
      isOwn = own.test(line);
      if (wasOwn && !isOwn) kept.push(...comments);
      comments = [];
    }
    if (!isOwn) kept.push(line);
    else if (/^\s*#/.test(line)) comments.push(line);
    else comments = [];
  }
  const rest = kept.join("\n");
  if (entry === undefined) return rest === "" || rest.endsWith("\n") ? rest : `${rest}\n`;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = rest.trim() === "" || /(?:^|\n)\r?\n$/.test(rest) ? "" : rest.endsWith("\n") ? eol : `${eol}${eol}`;
  return `${rest}${gap}${stringify({ mcp_servers: { [name]: entry } }).trim().replaceAll("\n", eol)}${eol}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

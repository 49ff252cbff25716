import { existsSync, readFileSync } from "node:fs";
import { parse as parseJsonc } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { z } from "zod";
import type { ClientFile } from "./client-files.ts";

const texts = z.record(z.string(), z.coerce.string());

/** A server as any of the clients writes one. What is not known is left alone. */
const foreignServer = z
  .looseObject({
    command: z.string(),
    args: z.array(z.coerce.string()),
    env: texts,
    /** Names that are passed on from the client's own environment. */
    env_vars: z.array(z.string()),
    envFile: z.string(),
    cwd: z.string(),
    url: z.string(),
    serverUrl: z.string(),
    httpUrl: z.string(),
    headers: texts,
    http_headers: texts,
    env_http_headers: texts,
    bearer_token_env_var: z.string(),
    type: z.string(),
    transport: z.string(),
    disabled: z.boolean(),
    enabled: z.boolean(),
    includeTools: z.array(z.string()),
    enabled_tools: z.array(z.string()),
    excludeTools: z.array(z.string()),
    disabled_tools: z.array(z.string()),
  })
  .partial();

export type ForeignServer = z.infer<typeof foreignServer>;

/** What one file of a client has. */
export interface ClientFileContent {
  readonly from: ClientFile;
  readonly servers: Readonly<Record<string, ForeignServer>>;
  /** What VS Code asks its user for, by id. */
  readonly inputs: Readonly<Record<string, string>>;
  /** What of it could not be read: the whole file, or a server. */
  readonly problems: readonly string[];
}

/** Reads the servers of a file; undefined where there is no such file or it has none. Never throws: what cannot be read is a problem. */
export function readClientFile(from: ClientFile): ClientFileContent | undefined {
  if (!existsSync(from.file)) return undefined;
  let root: unknown;
  try {
    root = parse(readFileSync(from.file, "utf8"), from.format);
  } catch (error) {
    return { from, servers: {}, inputs: {}, problems: [`${from.file} cannot be read: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`] };
  }
  const found = from.path.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);
  if (!isRecord(found)) return undefined;
  const problems: string[] = [];
  const servers: Record<string, ForeignServer> = {};
  for (const [name, raw] of Object.entries(found)) {
    const read = foreignServer.safeParse(raw);
    if (read.success) servers[name] = read.data;
    else problems.push(`${from.file}: the server "${name}" was left out: ${read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`);
  }
  const beside = from.path.slice(0, -1).reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), root);
  return { from, servers, inputs: inputsOf(beside), problems };
}

/** Errors: one that says what is wrong with the text. */
function parse(text: string, format: ClientFile["format"]): unknown {
  if (format === "toml") return parseToml(text);
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  // An empty file is what some clients begin with.
  if (errors.length > 0 && text.trim() !== "") throw new Error("it is not valid JSON with comments");
  return value;
}

function inputsOf(root: unknown): Readonly<Record<string, string>> {
  const inputs = isRecord(root) && Array.isArray(root["inputs"]) ? (root["inputs"] as readonly unknown[]) : [];
  return Object.fromEntries(inputs.flatMap((input) => (isRecord(input) && typeof input["id"] === "string" ? [[input["id"], typeof input["description"] === "string" ? input["description"] : input["id"]]] : [])));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

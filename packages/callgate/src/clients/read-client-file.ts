import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { ClientFile } from "./client-files.ts";
import { parseClientText } from "./parse-client-text.ts";

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
  /** Whether nothing of the file could be read. */
  readonly isBroken: boolean;
}

/** Reads the servers of a file; undefined where there is no such file or it has none. Never throws: what cannot be read is a problem. */
export function readClientFile(from: ClientFile): ClientFileContent | undefined {
  if (!existsSync(from.file)) return undefined;
  let root: unknown;
  try {
    root = parseClientText(readFileSync(from.file, "utf8"), from.format);
  } catch (error) {
    return broken(from, `${from.file} cannot be read: it ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
  }
  if (root === undefined) return undefined;
  if (!isRecord(root)) return broken(from, `${from.file} cannot be read: it holds ${Array.isArray(root) ? "a list" : "no object"}, where an object belongs`);
  const found = from.path.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);
  if (found === undefined || found === null) return undefined;
  if (!isRecord(found)) return broken(from, `${from.file} cannot be read: ${from.path.join(".")} is no object`);
  // What reads JSON sets it in place of a key.
  const hasPrototype = Object.hasOwn(found, "__proto__") || ![Object.prototype, null].includes(Object.getPrototypeOf(found) as object | null);
  const problems = hasPrototype ? [`${from.file}: the server "__proto__" was left out: nothing can have that name`] : [];
  const servers: Record<string, ForeignServer> = {};
  for (const [name, raw] of Object.entries(found)) {
    if (name === "__proto__") continue;
    const read = foreignServer.safeParse(raw);
    if (read.success) {
      servers[name] = read.data;
      const dropped = Object.keys(read.data).filter((key) => !Object.hasOwn(foreignServer.shape, key));
      if (dropped.length > 0) problems.push(`${from.file}: of the server "${name}" ${dropped.join(", ")} ${dropped.length === 1 ? "means" : "mean"} nothing here and ${dropped.length === 1 ? "was" : "were"} not taken over`);
    }
    else problems.push(`${from.file}: the server "${name}" was left out: ${read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`);
  }
  const beside = from.path.slice(0, -1).reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), root);
  return { from, servers, inputs: inputsOf(beside), problems, isBroken: false };
}

function broken(from: ClientFile, problem: string): ClientFileContent {
  return { from, servers: {}, inputs: {}, problems: [problem], isBroken: true };
}

function inputsOf(root: unknown): Readonly<Record<string, string>> {
  const inputs = isRecord(root) && Array.isArray(root["inputs"]) ? (root["inputs"] as readonly unknown[]) : [];
  return Object.fromEntries(inputs.flatMap((input) => (isRecord(input) && typeof input["id"] === "string" ? [[input["id"], typeof input["description"] === "string" ? input["description"] : input["id"]]] : [])));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

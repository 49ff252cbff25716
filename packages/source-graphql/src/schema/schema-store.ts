import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getIntrospectionQuery } from "graphql";
import type { GraphQLSchema } from "graphql";
import { faultError, sendRequest } from "../request/send-request.ts";
import type { GraphqlService } from "../request/send-request.ts";
import { readSchema } from "./read-schema.ts";

export interface SchemaStoreOptions {
  /** Absolute path of the schema; undefined: the service is asked. */
  readonly file: string | undefined;
  readonly service: () => GraphqlService;
  /** Where answers of services are kept. */
  readonly cacheFolder: string | undefined;
  /** How old an answer of the service may get before it is asked again. */
  readonly refreshMs: number;
  readonly now: () => number;
}

export interface StoredSchema {
  readonly schema: GraphQLSchema;
  /** Why it is not the newest. */
  readonly stale?: string;
}

/** The schema of a service, read when it changes. */
export interface SchemaStore {
  /** Errors: `Error` that says why there is none. */
  get(signal: AbortSignal): Promise<StoredSchema>;
}

export function createSchemaStore(options: SchemaStoreOptions): SchemaStore {
  return options.file === undefined ? askedStore(options) : fileStore(options.file);
}

/** A file counts as it is: looked at each time, read when it is another. */
function fileStore(file: string): SchemaStore {
  let held: { readonly schema: GraphQLSchema; readonly stamp: string } | undefined;
  return {
    async get() {
      const { mtimeMs, size, ino } = await stat(file);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      if (held?.stamp === stamp) return held;
      try {
        held = { schema: readSchema(await readFile(file, "utf8")), stamp };
        return held;
      } catch (fault) {
        if (held === undefined) throw fault;
        return { ...held, stale: messageOf(fault) };
      }
    },
  };
}

interface Asked {
  /** What the service answered. */
  readonly text: string;
  readonly readAtMs: number;
}

function askedStore({ service, cacheFolder, refreshMs, now }: SchemaStoreOptions): SchemaStore {
  let held: { readonly schema: GraphQLSchema; readonly asked: Asked } | undefined;
  const isFresh = ({ readAtMs }: Asked): boolean => now() >= readAtMs && now() - readAtMs < refreshMs;
  const hold = (asked: Asked): StoredSchema => {
    if (held?.asked.text !== asked.text) held = { schema: readSchema(asked.text), asked };
    else held = { ...held, asked };
    return { schema: held.schema };
  };
  return {
    async get(signal) {
      if (held !== undefined && isFresh(held.asked)) return { schema: held.schema };
      const kept = held?.asked ?? (await readKept(cacheFolder, service().endpoint));
      if (kept !== undefined && isFresh(kept)) return hold(kept);
      try {
        const asked = { text: await ask(service(), signal), readAtMs: now() };
        const stored = hold(asked);
        await keep(cacheFolder, service().endpoint, asked);
        return stored;
      } catch (fault) {
        signal.throwIfAborted();
        if (kept === undefined) throw fault;
        return { ...hold(kept), stale: messageOf(fault) };
      }
    },
  };
}

/** What newer services say of their schema is left out where an older one does not know the question. */
async function ask(service: GraphqlService, signal: AbortSignal): Promise<string> {
  const newest = { specifiedByUrl: true, inputValueDeprecation: true, oneOf: true };
  let refusal = "";
  for (const options of [newest, {}]) {
    const answer = await sendRequest(service, { query: getIntrospectionQuery(options), variables: {} }, { signal });
    if (answer.errors.length === 0 && answer.data !== undefined && answer.data !== null) return JSON.stringify(answer.data);
    refusal = faultError(answer).message;
  }
  throw new Error(`the service does not tell its schema (${refusal}); give its SDL as a file: "schema"`);
}

function fileOf(folder: string, endpoint: URL): string {
  return join(folder, `${createHash("sha256").update(endpoint.href).digest("hex").slice(0, 32)}.json`);
}

async function readKept(folder: string | undefined, endpoint: URL): Promise<Asked | undefined> {
  if (folder === undefined) return undefined;
  try {
    const { text, readAtMs } = JSON.parse(await readFile(fileOf(folder, endpoint), "utf8")) as Partial<Asked>;
    return typeof text === "string" && typeof readAtMs === "number" ? { text, readAtMs } : undefined;
  } catch {
    return undefined;
  }
}

/** Failing to write costs a question at the next start, nothing else. */
async function keep(folder: string | undefined, endpoint: URL, asked: Asked): Promise<void> {
  if (folder === undefined) return;
  const file = fileOf(folder, endpoint);
  const draft = `${file}.${process.pid}.${asked.readAtMs}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, JSON.stringify(asked), { mode: 0o600 });
    await rename(draft, file);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

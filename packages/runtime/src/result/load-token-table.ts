import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { threadEnvironment } from "../lib/thread-environment.ts";
import { readTokenTable, writeTokenTable } from "./token-table-file.ts";
import type { TokenTable } from "./token-table.ts";

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./token-table-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** It is the same for everybody and nobody writes to it, so that all gates of a process use one; a failure is not kept. */
let loaded: Promise<TokenTable> | undefined;

/**
 * The table of o200k, once a process. It is made in a thread, about 0.4 s during which this one is free, and kept where
 * Node keeps compiled code, if it does: the next process reads it.
 */
export function loadTokenTable(): Promise<TokenTable> {
  loaded ??= findTokenTable().catch((fault: unknown) => {
    loaded = undefined;
    throw fault;
  });
  return loaded;
}

async function findTokenTable(): Promise<TokenTable> {
  const folder = getCompileCacheDir();
  if (folder === undefined) return await makeTokenTable();
  // The number changes with how the table is laid out.
  const file = join(folder, "callgate-o200k-1");
  const kept = await readTokenTable(file);
  if (kept !== undefined) return kept;
  const made = await makeTokenTable();
  await writeTokenTable(file, made);
  return made;
}

function makeTokenTable(): Promise<TokenTable> {
  const worker = new Worker(workerUrl, { name: "callgate-tokens", env: threadEnvironment(), execArgv: [], stdin: false });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`The thread that loads the token table ended with ${code}`)));
  });
}

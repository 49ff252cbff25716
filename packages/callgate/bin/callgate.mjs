#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`callgate needs Node 22.18 or newer; this is ${process.version}. Install a newer one, or run: npx -p node@24 -p callgate callgate ...\n`);
  process.exit(2);
}

// Reading and compiling its own code is most of what a short command costs, so it is kept as it was compiled. V8 runs that
// unread: it is kept beside the keys (src/state-folder.ts), and not used where anybody else may write.
const { default: envPaths } = await import("env-paths");
const { log, data } = envPaths("callgate", { suffix: "" });
const state = process.platform === "linux" ? log : data;
const compiled = join(state, "compiled");
if (isOwn(state) && isOwn(compiled, { make: true })) nodeModule.enableCompileCache?.(compiled);

function isOwn(folder, { make = false } = {}) {
  try {
    if (make && !existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    const place = lstatSync(folder);
    return place.isDirectory() && (process.getuid === undefined || (place.uid === process.getuid() && (place.mode & 0o022) === 0));
  } catch {
    return false;
  }
}

const source = new URL("../src/cli/main.ts", import.meta.url);
const { main } = await import(existsSync(source) ? source.href : new URL("../dist/cli/main.js", import.meta.url).href);
const code = await main(process.argv.slice(2));
// What a tool left behind in this process (a timer, a pool of connections, a call that does not stop) does not keep a
// command that is over. What was written is waited for.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
process.exit(code);

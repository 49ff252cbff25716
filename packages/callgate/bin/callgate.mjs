#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence instead of a syntax error.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`callgate needs Node 22.18 or newer; this is ${process.version}. Install a newer one, or run: npx -p node@24 -p callgate callgate ...\n`);
  process.exit(2);
}

// Reading and compiling its own code is most of what a short command costs; what was compiled once is kept with the user's
// other caches. Node checks it against the files, and does without it where the folder cannot be written.
const { default: envPaths } = await import("env-paths");
nodeModule.enableCompileCache?.(join(envPaths("callgate", { suffix: "" }).cache, "compiled"));

const source = new URL("../src/cli/main.ts", import.meta.url);
const { main } = await import(existsSync(source) ? source.href : new URL("../dist/cli/main.js", import.meta.url).href);
const code = await main(process.argv.slice(2));
// What a tool left behind in this process (a timer, a pool of connections, a call that does not stop) does not keep a
// command that is over. What was written is waited for.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
process.exit(code);

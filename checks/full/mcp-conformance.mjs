// The official MCP conformance suite's server scenarios against our MCP server over HTTP, in front of a real upstream
// over stdio. What fails by design is in mcp-expected-failures.yml, a reason per line; an entry that passes fails the
// check, too. The suite cannot send a token, so a small relay adds it; Host and Origin go through untouched.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRelay } from "./mcp-relay.mjs";
import { createCheckedServer } from "./mcp-serve.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { server, close } = await createCheckedServer();
const endpoint = await server.serveHttp();

const relay = await openRelay(endpoint);

const results = await mkdtemp(join(tmpdir(), "callgate-conformance-"));
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const args = [suite, "server", "--url", relay.url, "--expected-failures", here("mcp-expected-failures.yml"), "-o", results];
const code = await new Promise((resolve) => spawn(process.execPath, args, { stdio: "inherit" }).on("close", resolve));

await rm(results, { recursive: true, force: true });
relay.close();
await close();
console.log(code === 0 ? "MCP conformance: pass" : `MCP conformance: fail (exit code ${code})`);
process.exitCode = code === 0 ? 0 : 1;

// The official MCP conformance suite's server scenarios against our MCP server over HTTP, in front of a real upstream
// over stdio. What fails by design is in mcp-expected-failures.yml, a reason per line; an entry that passes fails the
// check, too. The suite cannot send a token, so a small relay adds it; Host and Origin go through untouched.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createCheckedServer } from "./mcp-serve.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { server, close } = await createCheckedServer();
const endpoint = await server.serveHttp();

const relay = createServer((incoming, outgoing) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${endpoint.token}` };
  const forward = request({ host: "127.0.0.1", port: endpoint.port, path: incoming.url, method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  forward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => forward.destroy());
  incoming.pipe(forward);
});
await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));

const results = await mkdtemp(join(tmpdir(), "callgate-conformance-"));
const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const args = [suite, "server", "--url", `http://127.0.0.1:${relay.address().port}/mcp`, "--expected-failures", here("mcp-expected-failures.yml"), "-o", results];
const code = await new Promise((resolve) => spawn(process.execPath, args, { stdio: "inherit" }).on("close", resolve));

await rm(results, { recursive: true, force: true });
relay.closeAllConnections();
relay.close();
await close();
console.log(code === 0 ? "MCP conformance: pass" : `MCP conformance: fail (exit code ${code})`);
process.exitCode = code === 0 ? 0 : 1;

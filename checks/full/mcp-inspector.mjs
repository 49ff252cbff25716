// MCP Inspector's command line as an independent client of our server: both transports, both protocol eras, tool schemas
// under its strict portability rules, and its exit codes (0 ok, 5 for an answer with isError).
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createMcpServer } from "../../packages/mcp-server/src/index.ts";
import { inspectedGate } from "./mcp-serve.mjs";

const inspector = fileURLToPath(new URL("../../node_modules/.bin/mcp-inspector", import.meta.url));
const server = createMcpServer({ gate: inspectedGate(), version: "0.1.0" });
const { url, token } = await server.serveHttp();
const targets = {
  http: [url, "--transport", "http", "--header", `Authorization: Bearer ${token}`],
  stdio: [process.execPath, fileURLToPath(new URL("mcp-serve.mjs", import.meta.url))],
};

/** Exit code and output of one run; the inspector's own settings stay out of the home folder. */
const inspect = (args) =>
  new Promise((resolve) => {
    const child = spawn(inspector, ["--cli", ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOME: "/nonexistent", NO_COLOR: "1" } });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ code, output }));
  });

const call = (tool, ...pairs) => ["--method", "tools/call", "--tool-name", tool, ...pairs.flatMap((pair) => ["--tool-arg", pair])];
const cases = [
  { name: "lists portable schemas", args: ["--method", "tools/list", "--strict"], code: 0, has: "execute_code" },
  { name: "runs a program", args: call("execute_code", "code=return 42"), code: 0, has: '"answer":42' },
  { name: "sees a failure as one", args: call("execute_code", "code=fail"), code: 5, has: "NO_SUCH_DOC" },
  { name: "searches", args: call("search_tools", "query=documents"), code: 0, has: "docs.get" },
  { name: "lists resource templates", args: ["--method", "resources/templates/list"], code: 0, has: "result://" },
];

let failures = 0;
for (const [transport, target] of Object.entries(targets)) {
  for (const era of ["legacy", "modern"]) {
    for (const { name, args, code, has } of cases) {
      const got = await inspect([...target, "--protocol-era", era, "--format", "json", ...args]);
      const ok = got.code === code && got.output.includes(has);
      if (!ok) failures++;
      console.log(`${ok ? "ok  " : "FAIL"} ${transport} ${era}: ${name}${ok ? "" : ` (exit code ${got.code}, wanted ${code})\n${got.output.slice(0, 1500)}`}`);
    }
  }
}
await server.close();
console.log(failures === 0 ? "MCP Inspector: pass" : `MCP Inspector: ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

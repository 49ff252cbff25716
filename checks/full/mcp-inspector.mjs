// MCP Inspector's command line as an independent client of our server: both transports, both protocol eras, tool schemas
// under its strict portability rules, and its exit codes (0 ok, 5 for an answer with isError).
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createCheckedServer } from "./mcp-serve.mjs";

const inspector = fileURLToPath(new URL("../../node_modules/.bin/mcp-inspector", import.meta.url));
const { server, close } = await createCheckedServer();
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
  { name: "runs a program", args: call("execute_code", "code=return await tools.upstream.test_simple_text({})"), code: 0, has: "This is a simple text response" },
  { name: "sees a failure as one", args: call("execute_code", "code=return await tools.upstream.no_such_tool({})"), code: 5, has: "no_such_tool" },
  { name: "searches", args: call("search_tools", "query=simple text"), code: 0, has: "test_simple_text" },
  { name: "reads an upstream resource", args: ["--method", "resources/read", "--uri", "test://static-text"], code: 0, has: "static text resource" },
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
await close();
console.log(failures === 0 ? "MCP Inspector: pass" : `MCP Inspector: ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

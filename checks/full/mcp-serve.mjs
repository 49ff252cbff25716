// A real gate before one MCP server: what the MCP checks beside this file look at. Started as a program it serves stdio.
import { fileURLToPath } from "node:url";
import { createRealGate } from "../../packages/mcp-server/src/fixtures/real-gate.ts";
import { createMcpServer } from "../../packages/mcp-server/src/index.ts";
import { createMcpSource } from "../../packages/source-mcp/src/index.ts";

/** The server and what must be closed after it. */
export async function createCheckedServer() {
  const upstream = fileURLToPath(new URL("mcp-upstream.mjs", import.meta.url));
  const gate = await createRealGate([createMcpSource({ namespace: "upstream", command: process.execPath, args: [upstream] })]);
  const server = createMcpServer({ gate, version: "0.1.0", onFault: (id, error) => console.error(id, error) });
  return {
    server,
    close: async () => {
      await server.close();
      await gate.close();
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const { server, close } = await createCheckedServer();
  await server.serveStdio().closed;
  await close();
}

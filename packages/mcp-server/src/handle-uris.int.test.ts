import { functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";

test("http-008: kept results and files are found by their handle alone: no path, encoded or not, leads out of what is kept", async () => {
  const gate = await createRealGate([functionSource({ namespace: "none", tools: [] })]);
  const server = createMcpServer({ gate, version: "1" });
  const { url, token } = await server.serveHttp();
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(async () => {
    await client.close();
    await server.close();
    await gate.close();
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  const paths = ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%252e%252e/%252e%252e/etc/passwd", "/etc/passwd", "run_1/../../../etc/passwd", "run_1/1\0.png", "run_1/-1", `run_1/${"1".repeat(100_000)}`, ""];
  for (const uri of [...paths.map((path) => `result://${path}`), "file:///etc/passwd", "callgate://none/file%3A%2F%2F%2Fetc%2Fpasswd"]) {
    await expect(client.readResource({ uri }), uri.slice(0, 60)).rejects.toThrow(/not found/i);
  }
  const traversals = ["/mcp/../etc/passwd", "/mcp/..%2f..%2fetc%2fpasswd", "/artifacts/..%2f..%2fetc%2fpasswd"];
  const statuses = await Promise.all(traversals.map(async (path) => (await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })).status));
  expect(statuses).toEqual([404, 404, 404]);
});

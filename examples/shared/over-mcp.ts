import { PassThrough } from "node:stream";
import type { Gate } from "callgate";
import { createMcpServer } from "@callgate/mcp-server";
import { Client } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { CannotRun, Check, Job } from "./job.ts";
import { inWorld } from "./run-job.ts";
import type { OpenGate } from "./run-job.ts";

export interface McpReport {
  /** Tools as the client sees them, whatever stands behind the gate. */
  readonly tools: readonly string[];
  /** What the run of the program answered. */
  readonly text: string;
  readonly isError: boolean;
  readonly checks: readonly Check[];
}

/** The same job for a client of `callgate mcp`, which brings its own model: it looks for tools, then sends the program. */
export async function runOverMcp(job: Job, openGate?: OpenGate): Promise<McpReport | CannotRun> {
  return await inWorld(job, openGate === undefined ? {} : { openGate }, async (world) => {
    const { client, close } = await connectTo(world.gate);
    try {
      const { tools } = await client.listTools();
      await client.callTool({ name: "search_tools", arguments: { query: job.task } });
      const { content, isError = false } = await client.callTool({ name: "execute_code", arguments: { code: world.program } });
      return { tools: tools.map(({ name }) => name), text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"), isError, checks: await world.check() };
    } finally {
      await close();
    }
  });
}

/** A client and the server that `callgate mcp` is, over the bytes of stdio, in one process. */
async function connectTo(gate: Gate): Promise<{ readonly client: Client; readonly close: () => Promise<void> }> {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const server = createMcpServer({ gate, version: "0.0.0" });
  server.serveStdio({ stdin: toServer, stdout: toClient });
  const client = new Client({ name: "scripted-client", version: "1" });
  await client.connect(lineTransport(toServer, toClient));
  return {
    client,
    async close() {
      await client.close();
      await server.close();
    },
  };
}

function lineTransport(toServer: PassThrough, toClient: PassThrough): Transport {
  let rest = "";
  const transport: Transport = {
    start() {
      toClient.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
      return Promise.resolve();
    },
    send(message) {
      toServer.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close() {
      toServer.end();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}

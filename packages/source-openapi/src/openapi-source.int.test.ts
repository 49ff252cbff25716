import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@callgate/runtime";
import { testSource } from "@callgate/testkit";
import { createOpenApiSource } from "./create-openapi-source.ts";

const documentOf = (more: object = {}): string =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Numbers", version: "1" },
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
    security: [{ key: [] }],
    paths: {
      "/double/{n}": { get: { operationId: "double", parameters: [{ name: "n", in: "path", required: true, schema: { type: "integer" } }], responses: { 200: { description: "ok", content: { "application/json": { schema: { type: "object" } } } } } } },
      "/refuse": { post: { operationId: "refuse" } },
      "/wait": { post: { operationId: "wait" } },
      "/broken": { get: "soon" },
      ...more,
    },
  });

/** A service of two answers and one silence, on a port of its own. */
async function listen(port = 0): Promise<Server> {
  const server = createServer((request, response) => {
    const [, n] = /^\/double\/(\d+)$/.exec(request.url ?? "") ?? [];
    if (request.headers["x-key"] !== "very-secret-key") response.writeHead(401).end();
    else if (n !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ doubled: Number(n) * 2 }));
    else if (request.url === "/refuse") response.writeHead(422, { "content-type": "application/json" }).end('{"message":"no"}');
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

testSource("openapi", async () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-openapi-source-"));
  const file = join(folder, "numbers.json");
  writeFileSync(file, documentOf());
  let server = await listen();
  const { port } = server.address() as AddressInfo;
  const end = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  return {
    source: createOpenApiSource({ namespace: "numbers", document: file, folder, server: `http://127.0.0.1:${port}`, auth: "env:KEY", readSecret: () => "very-secret-key", clock: systemClock() }),
    tools: ["double", "refuse", "wait"],
    malformed: ["GET /broken"],
    answered: { name: "double", args: { n: 21 }, answer: { doubled: 42 } },
    refused: { name: "refuse", args: {}, code: "HTTP_422" },
    unanswered: { name: "wait", args: {} },
    secrets: ["very-secret-key"],
    fate: {
      goAway: end,
      comeBack: async () => {
        server = await listen(port);
      },
      changeTools: () => {
        writeFileSync(file, documentOf({ "/more": { get: { operationId: "more" } } }));
        return Promise.resolve();
      },
    },
    dispose: async () => {
      if (server.listening) await end();
      rmSync(folder, { recursive: true });
    },
  };
});

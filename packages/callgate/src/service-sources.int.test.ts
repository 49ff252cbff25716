import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Gate } from "@callgate/contract";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { compiledCode } from "./cli/fixtures/cli-project.ts";
import type { OpenApiConfig } from "./config/service-schema.ts";
import { createCallgate } from "./create-callgate.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-services-"));
const document = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  paths: {
    "/pets/{id}": {
      get: { operationId: "pets/get", tags: ["pets"], parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }], responses: { 200: { description: "ok", content: { "application/json": { schema: { type: "object", required: ["id", "name"], properties: { id: { type: "integer" }, name: { type: "string" } } } } } }, 404: { description: "There is no such pet" } } },
      delete: { operationId: "pets/delete", tags: ["pets", "admin"], parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }], responses: { 204: { description: "gone" } } },
    },
    "/echo": { post: { operationId: "echo", tags: ["admin"] } },
  },
};
const token = "a-token-nobody-may-see";

let server: Server;
let url: string;
const gates: Gate[] = [];
beforeAll(async () => {
  writeFileSync(join(folder, "pets.json"), JSON.stringify(document));
  writeFileSync(join(folder, "shop.graphql"), "type Query { count: Int! hello(name: String!): Greeting } type Greeting { text: String! }");
  server = createServer((request, response) => {
    const [, id] = /^\/pets\/(\d+)$/.exec(request.url ?? "") ?? [];
    const send = (status: number, body: unknown): void => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/graphql") return send(200, { data: { count: 3, hello: { text: "Hello" } } });
    if (request.headers.authorization !== `Bearer ${token}`) return send(401, { message: `what is ${request.headers.authorization ?? "nobody"}?` });
    if (id === "404") return send(404, { message: "no pet" });
    return send(200, { id: Number(id), name: "Rex" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env["PETS_TOKEN"] = token;
});
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
});
afterAll(async () => {
  delete process.env["PETS_TOKEN"];
  rmSync(folder, { recursive: true });
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});

async function open(pets: Partial<OpenApiConfig>): Promise<Gate> {
  const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), openapi: { pets: { document: "./pets.json", server: url, auth: "env:PETS_TOKEN", ...pets } } });
  gates.push(gate);
  return gate;
}

describe("a block of services with OpenAPI documents", () => {
  test("gives tools with types; what GET reads is believed once the source is trusted", async () => {
    const effects = async (gate: Gate) => Object.fromEntries((await ready(gate)).map(({ name, spec }) => [name, spec.effect]));
    expect(await effects(await open({}))).toEqual({ "pets.echo": "write", "pets.pets_delete": "destructive", "pets.pets_get": "write" });
    const gate = await open({ trusted: true });
    expect(await effects(gate)).toMatchObject({ "pets.pets_get": "read" });
    const result = await gate.run('import { pets } from "tools"; return (await pets.pets_get({ id: 7 })).name;');
    expect(result.value).toMatchObject({ value: "Rex" });
    expect((await gate.run('import { pets } from "tools"; return (await pets.pets_get({ id: 7 })).nmae;')).repairs).not.toEqual([]);
    expect((await gate.run('import { pets } from "tools"; return await pets.pets_get({ id: "7" });')).status).toBe("rejected");
  });

  test("is chosen from by tag", async () => {
    expect((await ready(await open({ allow: ["tag:pets"], deny: ["tag:adm*"] }))).map(({ name }) => name)).toEqual(["pets.pets_get"]);
  });

  test("tells errors of the service without the secret that it was sent, even where the service tells it", async () => {
    const gate = await open({ trusted: true, auth: { kind: "apiKey", in: "header", name: "authorization", value: "env:PETS_TOKEN" } });
    const refused = await gate.call("pets.pets_get", { id: 7 });
    expect(refused.outcome).toMatchObject({ kind: "failed", error: { code: "HTTP_401" } });
    expect(JSON.stringify([refused, gate.problems])).not.toContain(token);
  });

  test("whose secret is not set is down and says where it is asked for", async () => {
    const gate = await open({ auth: "env:NOWHERE_SET" });
    await ready(gate);
    expect(gate.namespaces()[0]?.state).toMatchObject({ kind: "down", reason: expect.stringContaining("openapi.pets.auth refers to the environment variable NOWHERE_SET") });
  });

  test("whose document is broken is down, and the others work", async () => {
    const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), openapi: { gone: { document: "./gone.yaml" }, pets: { document: "./pets.json", trusted: true } } });
    gates.push(gate);
    await ready(gate);
    expect(gate.namespaces().map(({ namespace, state }) => [namespace, state.kind])).toEqual([["gone", "down"], ["pets", "ready"]]);
    expect(gate.problems.join("\n")).toContain("./gone.yaml cannot be used: ENOENT");
  });
});

test("a block of GraphQL services gives a tool for each field", async () => {
  const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), graphql: { shop: { endpoint: `${url}/graphql`, schema: "./shop.graphql", trusted: true } } });
  gates.push(gate);
  expect((await ready(gate)).map(({ name }) => name)).toEqual(["shop.count", "shop.hello", "shop.query"]);
  const result = await gate.run('import { shop } from "tools"; return [await shop.count(), (await shop.hello({ name: "Ann" }))?.text];');
  expect(result.value).toMatchObject({ value: [3, "Hello"] });
});

test("examples/openapi-service: 5,000 items in pages, written back, with four faults on the way", { timeout: 120_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), "callgate-services-home-"));
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../../../examples/openapi-service/openapi-service.ts")], { env: { PATH: process.env["PATH"], HOME: home, ...compiledCode } });
  expect(stdout).toBe("completed: 5000 articles read in 50 pages, 50 ordered; on the way: 429, 500, timeout, 500 after the write\n");
  rmSync(home, { recursive: true });
});

/** The tools of a gate whose sources have been listed. */
async function ready(gate: Gate) {
  await gate.call("pets.nothing", {});
  return gate.tools();
}

import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkConfigText } from "../../config/load-config.ts";
import { commandWorld } from "../../fixtures/command-world.ts";
import { addCommand, removeCommand } from "./add.ts";

const server = fileURLToPath(new URL("../../../../source-mcp/src/fixtures/scripted-server.mjs", import.meta.url));

function project(config?: string, fileName?: string) {
  const world = commandWorld(config, fileName);
  return { ...world, config: () => checkConfigText(readFileSync(world.file, "utf8"), world.file) };
}

async function listening(answer: RequestListener): Promise<string> {
  const http = createServer(answer);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const address = http.address();
  return `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`;
}

const petstore = { openapi: "3.1.0", info: { title: "Pets", version: "1" }, paths: { "/pets": { get: { operationId: "listPets", responses: { 200: { description: "ok" } } }, post: { operationId: "addPet", responses: { 201: { description: "ok" } } } } } };
const introspected = { data: { __schema: { queryType: { name: "Query" }, mutationType: null, subscriptionType: null, directives: [], types: [{ kind: "OBJECT", name: "Query", description: null, interfaces: [], enumValues: null, possibleTypes: null, inputFields: null, fields: [{ name: "hello", description: "Says hello", args: [], type: { kind: "SCALAR", name: "String", ofType: null }, isDeprecated: false, deprecationReason: null }] }, { kind: "SCALAR", name: "String", description: null, fields: null, interfaces: null, enumValues: null, possibleTypes: null, inputFields: null }, { kind: "SCALAR", name: "Boolean", description: null, fields: null, interfaces: null, enumValues: null, possibleTypes: null, inputFields: null }] } } };

describe("callgate add", { timeout: 60_000 }, () => {
  test("an MCP server by its command: says what it found, keeps comments, and remove takes it out again", async () => {
    const { context, said, config, file } = project(`{\n  // mine\n  "mcpServers": {}\n}\n`);
    expect(await addCommand([process.execPath, server, "ok"], { name: "scripted", env: ["SOME_TOKEN=literal-secret"] }, context)).toBe(0);
    expect(config().mcpServers).toEqual({ scripted: { command: process.execPath, args: [server, "ok"], env: { SOME_TOKEN: "env:SOME_TOKEN" } } });
    expect(readFileSync(file, "utf8")).toContain("// mine");
    expect(said.err).toContain("21 tools: 1 read, 19 write, 1 destroy");
    expect(said.err).toContain("count as writes");
    expect(said.err).toContain("SOME_TOKEN");
    expect(said.out + said.err + readFileSync(file, "utf8")).not.toContain("literal-secret");
    await addCommand([process.execPath, server, "ok"], { name: "scripted", env: ["SOME_TOKEN=literal-secret"] }, context);
    expect(said.out).toContain("already; nothing was changed");
    await expect(addCommand([process.execPath, server, "pages"], { name: "scripted" }, context)).rejects.toThrow("another name");
    expect(await removeCommand("scripted", context)).toBe(0);
    expect(config().mcpServers).toEqual({});
    expect(() => removeCommand("scripted", context)).toThrow('has no source "scripted"');
  });

  test("a package by its name is not run before somebody agreed; what npm says of it is told, and no secret is", async () => {
    const { context, said, file, folder } = project("{}");
    writeFileSync(join(folder, "npx"), `#!/bin/sh\necho ran >> "${folder}/ran"\nprintf 'npm error code E404\\nnpm error 404 Not Found - GET /fooo\\nnpm error 404\\nnpm error 404 The requested resource could not be found\\nnpm error 404\\nnpm error 404 Note that you can also install from a\\nnpm error 404 tarball, folder, http url, or git folder.\\nnpm error A complete log of this run can be found in: x\\n' >&2\nexit 1\n`, { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = `${folder}:${path ?? ""}`;
    onTestFinished(() => void (process.env["PATH"] = path));
    await expect(addCommand(["fooo", "--api-key", "SECRETADDARG99"], {}, context)).rejects.toThrow('npx -y fooo --api-key ${FOOO_API_KEY} downloads the package "fooo" from npm');
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(await addCommand(["fooo", "--api-key", "SECRETADDARG99"], { yes: true, env: ["TOKEN=SECRETENV99"] }, context)).toBe(1);
    expect(existsSync(join(folder, "ran"))).toBe(true);
    expect(said.err).toContain("npx -y fooo --api-key ${FOOO_API_KEY} did not answer, so nothing was written");
    expect(said.err).toContain("npm error code E404");
    expect(said.out + said.err + readFileSync(file, "utf8")).not.toMatch(/SECRET(?:ADD|ENV)/);
  });

  test("a URL is what it answers as: an OpenAPI document, a GraphQL service", async () => {
    const { context, said, config } = project("{}");
    const documents = await listening((_request, response) => void response.setHeader("content-type", "application/json").end(JSON.stringify(petstore)));
    expect(await addCommand([`${documents}/api-docs`], { name: "pets" }, context)).toBe(0);
    expect(said.err).toContain("OpenAPI document");
    const asked: string[] = [];
    const graph = await listening((request, response) => {
      asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
      if (request.method === "POST" && request.url === "/query") response.setHeader("content-type", "application/json").end(JSON.stringify(introspected));
      else response.writeHead(404).end("no");
    });
    expect(await addCommand([`${graph}/query`], { name: "graph" }, context)).toBe(0);
    expect(new Set(asked.map((line) => line.split(" ")[1]))).toEqual(new Set(["/query"]));
    expect(config()).toEqual({ openapi: { pets: { document: `${documents}/api-docs` } }, graphql: { graph: { endpoint: `${graph}/query` } } });
  });

  test("an MCP server that wants a sign-in is written, with how to sign in; what answers as nothing is not", async () => {
    const { context, said, config } = project("{}");
    const locked = await listening((_request, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end());
    expect(await addCommand([`${locked}/mcp`], { name: "locked" }, context)).toBe(0);
    expect(said.err).toContain("callgate auth login locked");
    expect(config().mcpServers).toEqual({ locked: { url: `${locked}/mcp` } });
    const page = await listening((_request, response) => void response.setHeader("content-type", "text/html").end("<h1>hello</h1>"));
    expect(await addCommand([page], { name: "page" }, context)).toBe(1);
    expect(said.err).toContain("nothing was written");
    expect(Object.keys(config())).toEqual(["mcpServers"]);
  });

  test("a database by its file; a configuration in code gets lines to add, and a folder without one gets one", async () => {
    const { context, said, folder, file } = project("export default {};\n", "callgate.config.ts");
    const database = new DatabaseSync(join(folder, "shop.db"));
    database.exec("create table customers (id integer primary key, name text)");
    database.close();
    expect(await addCommand([join(folder, "shop.db")], { readOnly: true }, context)).toBe(0);
    expect(said.out).toContain("is code; write this into it");
    expect(said.out).toContain('"file": "./shop.db"');
    expect(readFileSync(file, "utf8")).toBe("export default {};\n");
    const fresh = project();
    expect(await addCommand([join(folder, "shop.db")], {}, fresh.context)).toBe(0);
    expect(fresh.config().sql).toEqual({ shop: { file: join(folder, "shop.db") } });
    expect(fresh.context.trust.has(fresh.folder)).toBe(true);
  });

  test("a DSN whose database is not there is neither written nor shown", async () => {
    const { context, said, file } = project("{}");
    expect(await addCommand(["postgres://app:hunter2@127.0.0.1:1/shop"], {}, context)).toBe(1);
    expect(await addCommand(["postgres://app:hunter2@127.0.0.1:1/shop"], { check: false }, context)).toBe(0);
    expect(said.out + said.err + readFileSync(file, "utf8")).not.toContain("hunter2");
    expect(readFileSync(file, "utf8")).toContain('"url": "env:DATABASE_URL"');
  });
});

import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createVariableNames } from "../clients/needed-variables.ts";
import { candidatesOf } from "./candidates.ts";
import { sourceNameOf } from "./source-name.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-add-"));
mkdirSync(join(folder, "bin"));
for (const name of ["some-server", "sh"]) {
  writeFileSync(join(folder, "bin", name), "#!/bin/sh\n");
  chmodSync(join(folder, "bin", name), 0o755);
}
writeFileSync(join(folder, "petstore.yaml"), "openapi: 3.1.0\n");
writeFileSync(join(folder, "server.mjs"), "");
writeFileSync(join(folder, "notes.txt"), "");
const database = new DatabaseSync(join(folder, "shop.db"));
database.exec("create table a (b)");
database.close();

const env = { PATH: join(folder, "bin"), SHOP: "mysql://root:hunter2@localhost/shop", WORD: "hello" };

function entries(words: readonly string[], more: { readonly env?: Readonly<Record<string, string>>; readonly headers?: Readonly<Record<string, string>>; readonly trusted?: boolean; readonly isCommand?: boolean } = {}) {
  const names = createVariableNames(env);
  const named = { words, name: sourceNameOf(words[0] ?? ""), env: {}, headers: {}, trusted: false, readOnly: false, ...more };
  const found = candidatesOf(named, { cwd: folder, folder, env, names });
  return { found: found.map(({ block, value }) => [block, value]), variables: names.list().map(({ name }) => name), values: names.values() };
}

describe("candidatesOf", () => {
  test.each([
    [["@modelcontextprotocol/server-filesystem", "."], [["mcpServers", { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }]]],
    [["mcp-server-fetch"], [["mcpServers", { command: "npx", args: ["-y", "mcp-server-fetch"] }]]],
    [["pypi:mcp-server-fetch"], [["mcpServers", { command: "uvx", args: ["mcp-server-fetch"] }]]],
    [["npm:thing@1.2.3", "--x"], [["mcpServers", { command: "npx", args: ["-y", "thing@1.2.3", "--x"] }]]],
    [["some-server", "--flag"], [["mcpServers", { command: "some-server", args: ["--flag"] }]]],
    [["./server.mjs"], [["mcpServers", { command: "node", args: ["./server.mjs"] }]]],
    [["petstore.yaml"], [["openapi", { document: "./petstore.yaml" }]]],
    [["shop.db"], [["sql", { file: "./shop.db" }]]],
    [["sqlite:other.db"], [["sql", { file: "./other.db" }]]],
    [["https://mcp.notion.com/mcp"], [["mcpServers", { url: "https://mcp.notion.com/mcp" }], ["openapi", { document: "https://mcp.notion.com/mcp" }], ["graphql", { endpoint: "https://mcp.notion.com/mcp" }]]],
    [["https://countries.example/graphql"], [["graphql", { endpoint: "https://countries.example/graphql" }], ["openapi", { document: "https://countries.example/graphql" }], ["mcpServers", { url: "https://countries.example/graphql" }]]],
    [["env:SHOP"], [["sql", { url: "env:SHOP" }]]],
  ])("%j", (words, expected) => expect(entries(words).found).toEqual(expected));

  test("no password or key is in what is written, and each has a variable", () => {
    const dsn = entries(["postgres://app:hunter2@db.example/shop"]);
    expect(dsn).toEqual({ found: [["sql", { url: "env:DATABASE_URL" }]], variables: ["DATABASE_URL"], values: { DATABASE_URL: "postgres://app:hunter2@db.example/shop" } });
    const keyed = entries(["https://mcp.exa.ai/mcp?exaApiKey=abc-123"], { headers: { Authorization: "Bearer literal-secret" } });
    expect(keyed.found).toEqual([["mcpServers", { url: "https://mcp.exa.ai/mcp?exaApiKey=${EXA_EXAAPIKEY}", headers: { Authorization: "Bearer ${EXA_TOKEN}" } }]]);
    const command = entries(["@x/server-db", "postgres://app:hunter2@db.example/shop", "--api-key", "literal-secret"], { env: { DB_TOKEN: "literal-secret", LOG_LEVEL: "debug" } });
    expect(command.found).toEqual([["mcpServers", { command: "npx", args: ["-y", "@x/server-db", "${DB_URL}", "--api-key", "${DB_API_KEY}"], env: { DB_TOKEN: "env:DB_TOKEN", LOG_LEVEL: "debug" } }]]);
    expect(JSON.stringify([dsn.found, keyed.found, command.found])).not.toMatch(/hunter2|abc-123|literal-secret/);
  });

  test.each([[["notes.txt"], "neither an OpenAPI document"], [["bin/"], "is a folder"], [["ftp://x.example"], "Nothing is known that speaks ftp"], [["env:NOPE"], "is not set"], [["env:WORD"], "neither the URL of a database"], [["sh", "-c", "TOKEN=abc srv"], "TOKEN=… in the text for a shell"], [["no such thing!"], "no name of a package"]])("%j is refused", (words, message) => {
    expect(() => entries(words)).toThrow(message);
  });

  test.each([["./nope.db"], ["nope.yaml"], ["../nope"]])("%s is no package where there is no such file", (word) => expect(() => entries([word])).toThrow(`There is no file ${word}`));

  test("what follows -- is a command, and never a package", () => {
    expect(entries(["some-server", "--flag"], { isCommand: true }).found).toEqual([["mcpServers", { command: "some-server", args: ["--flag"] }]]);
    expect(() => entries(["no-such-server", "x"], { isCommand: true })).toThrow('There is no command "no-such-server" on the PATH, so nothing was run or written. If you mean the package of npm: callgate add npm:no-such-server');
    expect(() => entries(["./nope"], { isCommand: true })).toThrow("at that path");
  });
});

test.each([
  ["@modelcontextprotocol/server-filesystem", "filesystem"],
  ["@upstash/context7-mcp@latest", "context7"],
  ["@playwright/mcp", "playwright"],
  ["mcp-server-fetch", "fetch"],
  ["https://mcp.notion.com/mcp", "notion"],
  ["http://127.0.0.1:8080/graphql", "127_0_0_1"],
  ["postgres://u:p@h/shop", "shop"],
  ["./api/petstore.yaml", "petstore"],
  ["./petstore/openapi.json", "petstore"],
  ["shop.db", "shop"],
])("%s is called %s", (what, name) => expect(sourceNameOf(what)).toBe(name));

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findConfigFile, loadConfig } from "./load-config.ts";

function write(text: string, name = "callgate.jsonc"): string {
  const file = join(mkdtempSync(join(tmpdir(), "callgate-config-")), name);
  writeFileSync(file, text);
  return file;
}

describe("findConfigFile", () => {
  test("finds the nearest file above a folder", () => {
    const file = write("{}");
    const below = join(file, "..", "a", "b");
    mkdirSync(below, { recursive: true });
    expect(findConfigFile(below)).toBe(file);
  });
});

describe("loadConfig", () => {
  test("reads comments, trailing commas and a block of servers as other clients write it", async () => {
    const file = write(`{
      // a comment
      "mcpServers": { "files": { "type": "stdio", "command": "npx", "args": ["-y", "x"], "env": { "A": "b" }, "autoApprove": [], "disabled": false, }, },
    }`);
    const { config } = await loadConfig(file);
    expect(config.mcpServers?.["files"]).toMatchObject({ command: "npx", args: ["-y", "x"] });
  });

  test("names line and column of text that is not JSON", async () => {
    const file = write('{\n  "limits": { "cpuMs": 5 \n  "x": 1\n}');
    await expect(loadConfig(file)).rejects.toThrow(/callgate\.jsonc:3:3: not valid JSON with comments: comma expected/);
  });

  test.each([
    ['{\n  "rules": [{ "deny": "a.b" }],\n  "rules": []\n}', /callgate\.jsonc:3:3: the key "rules" is there twice/],
    ['{"mcpServers": {"a": {"command": "x"}, "\\u0061": {"command": "y"}}}', /the key "a" is there twice/],
    ['{"__proto__": {"rules": [{"allow": "*"}]}}', /no key can be called __proto__/],
    ["[".repeat(1_000_000), /nested deeper than 100/],
  ])("refuses what has no one meaning, or no bottom (%#)", async (text, message) => {
    await expect(loadConfig(write(text))).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(message) as unknown });
  });

  test("the same key in two objects is two keys", async () => {
    const { config } = await loadConfig(write('{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}, "rules": [{"allow": "a.b"}, {"allow": "b.c"}]}'));
    expect(Object.keys(config.mcpServers ?? {})).toEqual(["a", "b"]);
  });

  test("says that a file cannot be read", async () => {
    const file = write("{}");
    await expect(loadConfig(join(file, ".."))).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    mkdirSync(`${file}.d/callgate.jsonc`, { recursive: true });
    await expect(loadConfig(`${file}.d/callgate.jsonc`)).rejects.toThrow(/cannot be read: EISDIR/);
  });

  test.each([
    ['{"limts": {}}', 'limts: unknown key; did you mean "limits"?'],
    ['{"limits": {"cpuMS": 5}}', 'limits.cpuMS: unknown key; did you mean "cpuMs"?'],
    ['{"mcpServers": {"a": {"comand": "x", "command": "y"}}}', 'mcpServers.a.comand: unknown key; did you mean "command"?'],
    ['{"mcpServers": {"a": {}}}', "mcpServers.a: needs either command or url"],
    ['{"mcpServers": {"a": {"command": "x", "sensitive": {"get": ["/birthday"]}}}}', "mcpServers.a.sensitive.get.0: must be a JSON Pointer that starts with /input or /output"],
    ['{"mcpServers": {"a": {"command": "x", "detect": {"get": {"/output/id": {"cards": false}}}}}}', "cards"],
    ['{"limits": {"cpuMs": -1}}', "limits.cpuMs: "],
    ['{"toolsFolder": 3}', "toolsFolder: "],
    ["[]", "the top: "],
    ["null", "the top: "],
  ])("refuses %s by naming the key", async (text, message) => {
    const fault: unknown = await loadConfig(write(text)).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "CONFIG_INVALID" });
    expect((fault as Error).message).toContain(message);
  });

  test("says how to make a file that is not there", async () => {
    await expect(loadConfig("/nowhere/callgate.jsonc")).rejects.toThrow("There is no configuration file /nowhere/callgate.jsonc; create one with callgate init");
  });

  test("suggests keys wherever they are, also inside of blocks by name", async () => {
    const config = { sql: { shop: { fiel: "x.db", file: "x.db", queries: { one: { sql: "select 1", descripton: "x", description: "x" } } } }, mcpServers: { files: { command: "x", purpos: "x" } }, rateLimits: [{ id: "a", calls: 1, windowSeconds: 1, tool: "x" }] };
    const failure = await loadConfig(write(JSON.stringify(config))).then(() => "", (error: unknown) => (error as Error).message);
    for (const [place, meant] of [["sql.shop.fiel", "file"], ["sql.shop.queries.one.descripton", "description"], ["mcpServers.files.purpos", "purpose"], ["rateLimits.0.tool", "tools"]]) expect(failure).toContain(`${place}: unknown key; did you mean "${meant}"?`);
  });
});

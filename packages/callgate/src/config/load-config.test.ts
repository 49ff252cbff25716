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
    ['{"limts": {}}', 'limts: unknown key; did you mean "limits"?'],
    ['{"limits": {"cpuMS": 5}}', 'limits.cpuMS: unknown key; did you mean "cpuMs"?'],
    ['{"mcpServers": {"a": {"comand": "x", "command": "y"}}}', 'mcpServers.a.comand: unknown key; did you mean "command"?'],
    ['{"mcpServers": {"a": {}}}', "mcpServers.a: needs either command or url"],
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
});

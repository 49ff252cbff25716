import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkConfigText } from "../../config/load-config.ts";
import { commandWorld } from "../../fixtures/command-world.ts";
import { initOn } from "./init.ts";

test("init --import adds to a configuration that is there what it has not, and says which", async () => {
  const { folder, file, said, context } = commandWorld(`{\n  // mine\n  "mcpServers": { "gh": { "command": "mine" } }\n}\n`);
  const home = join(folder, "home");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  writeFileSync(join(home, ".cursor", "mcp.json"), `{ "mcpServers": { "gh": { "command": "theirs", "env": { "OTHER_TOKEN": "abc" } }, "notes": { "command": "notes", "env": { "NOTES_TOKEN": "abc" } } } }`);
  const host = { platform: "linux" as const, home, env: {}, folder };
  await initOn(host, {}, context);
  expect(said.out).not.toContain("notes from");
  await initOn(host, { import: ["cursor"] }, context);
  const text = readFileSync(file, "utf8");
  expect(checkConfigText(text, file).mcpServers).toEqual({ gh: { command: "mine" }, notes: { command: "notes", args: [], env: { NOTES_TOKEN: "env:NOTES_TOKEN" } } });
  expect(text).toContain("// mine");
  expect(said.out).toContain("added to callgate.jsonc\nthere already: gh\nimported notes from Cursor\n");
  expect(said.err).toContain("NOTES_TOKEN");
  expect(said.err).not.toContain("OTHER_TOKEN");
  said.out = "";
  await initOn(host, { import: ["cursor"] }, context);
  expect(said.out).toBe("there already: gh, notes\n");
  expect(readFileSync(file, "utf8")).toBe(text);
});

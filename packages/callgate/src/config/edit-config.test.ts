import { mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configText } from "./config-text.ts";
import { editJsonc, replaceFile } from "./edit-config.ts";
import { checkConfigText } from "./load-config.ts";

const written = `{
  // servers
  "mcpServers": {
    "a": { "command": "a" }, // the first
  },
  /* rules */ "rules": [{ "allow": "a.*" }],
}
`;

describe("editJsonc", () => {
  test("adds, changes and takes out, and keeps comments and layout", () => {
    const added = editJsonc(written, ["mcpServers", "b"], { command: "b" });
    expect(checkConfigText(added, "x.jsonc").mcpServers).toEqual({ a: { command: "a" }, b: { command: "b" } });
    for (const comment of ["// servers", "// the first", "/* rules */"]) expect(added).toContain(comment);
    const removed = editJsonc(added, ["mcpServers", "b"], undefined);
    expect(checkConfigText(removed, "x.jsonc").mcpServers).toEqual({ a: { command: "a" } });
    const block = editJsonc(written, ["sql", "shop"], { file: "./shop.db" });
    expect(checkConfigText(block, "x.jsonc").sql).toEqual({ shop: { file: "./shop.db" } });
    expect(block).toContain("// servers");
  });

  test("works in a new configuration, an empty file, and one with tabs", () => {
    expect(checkConfigText(editJsonc(configText([]), ["mcpServers", "b"], { command: "b" }), "x.jsonc").mcpServers).toEqual({ b: { command: "b" } });
    expect(checkConfigText(editJsonc("", ["mcpServers", "b"], { command: "b" }), "x.jsonc").mcpServers).toEqual({ b: { command: "b" } });
    expect(editJsonc(`{\n\t"mcpServers": {}\n}\n`, ["mcpServers", "b"], { command: "b" })).toContain(`\n\t\t"b": {`);
  });
});

test("replaceFile keeps the mode, follows a link and leaves nothing beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-edit-"));
  writeFileSync(join(folder, "real.jsonc"), "{}", { mode: 0o600 });
  symlinkSync(join(folder, "real.jsonc"), join(folder, "link.jsonc"));
  replaceFile(join(folder, "link.jsonc"), `{ "a": 1 }`);
  expect(readFileSync(join(folder, "real.jsonc"), "utf8")).toBe(`{ "a": 1 }`);
  expect(statSync(join(folder, "real.jsonc")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["link.jsonc", "real.jsonc"]);
});

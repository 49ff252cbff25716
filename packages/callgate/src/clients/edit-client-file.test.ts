import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { clientEntry, variablesIn } from "./client-entry.ts";
import type { ClientFile } from "./client-files.ts";
import { editClientFile, othersIn, secretsIn } from "./edit-client-file.ts";

const vscode: ClientFile = { client: "vscode", file: "mcp.json", scope: "user", format: "jsonc", path: ["servers"], isWritten: true };
const codex: ClientFile = { client: "codex", file: "config.toml", scope: "user", format: "toml", path: ["mcp_servers"], isWritten: true };
const entry = { command: "node", args: ["callgate.mjs", "mcp"] };

describe("editClientFile", () => {
  const settings = `{\n\t// mine\n\t"inputs": [],\n\t"servers": {\n\t\t"other": { "command": "x", "env": { "KEY": "secret-1" } }, // theirs\n\t},\n}\n`;

  test("JSON with comments: put in, again, changed, taken out", () => {
    const added = editClientFile(settings, vscode, { name: "callgate", entry });
    expect(parseJsonc(added)).toEqual({ inputs: [], servers: { other: { command: "x", env: { KEY: "secret-1" } }, callgate: entry } });
    expect(added).toContain("// theirs");
    expect(editClientFile(added, vscode, { name: "callgate", entry })).toBe(added);
    expect(parseJsonc(editClientFile(added, vscode, { name: "callgate", entry: { command: "y" } }))).toMatchObject({ servers: { callgate: { command: "y" } } });
    const removed = editClientFile(added, vscode, { name: "callgate", entry: undefined });
    expect(parseJsonc(removed)).toEqual(parseJsonc(settings));
    expect(editClientFile(settings, vscode, { name: "callgate", entry: undefined })).toBe(settings);
    expect(secretsIn(settings, vscode)).toEqual(["secret-1"]);
    expect(othersIn(added, vscode, "callgate")).toEqual(["other"]);
  });

  test.each([
    `{ "servers": { "a": {"command":"x","args":["1","2"]} } }`,
    `{\n  "servers": {\n    "a": {"command":"x"},   "b":{"command":"y"}\n  },\n  "x": [1,2]\n}\n`,
    `{\n\t"servers": {\n\t\t"a": {"command":"x"}, // theirs\n\t},\n}\n`,
    `{"x":{"y":1}}`,
    `{\r\n  "servers": {}, "x": {"y":1}\r\n}\r\n`,
  ])("JSON: %j is as it was but for its entry", (text) => {
    const added = editClientFile(text, vscode, { name: "callgate", entry });
    // Nothing but an insertion was made.
    const begin = text.split("").findIndex((char, index) => char !== added[index]);
    const tail = text.slice(begin);
    expect(added.startsWith(text.slice(0, begin)) && added.endsWith(tail)).toBe(true);
    expect(editClientFile(added, vscode, { name: "callgate", entry: { command: "z" } })).toContain(text.slice(0, begin));
  });

  test("TOML: what is not its own stays, blank lines and comments too", () => {
    const config = `# mine\n\n\n\n[mcp_servers.callgate]\ncommand = "old"\n\n# of a\n[mcp_servers.a]\ncommand = "x"\n\n\n`;
    expect(editClientFile(config, codex, { name: "callgate", entry: undefined })).toBe(`# mine\n\n\n\n# of a\n[mcp_servers.a]\ncommand = "x"\n\n\n`);
  });

  test("TOML: only its own table is touched", () => {
    const config = `# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x" # theirs\n\n[mcp_servers.callgate.env]\nOLD = "1"\n\n[mcp_servers.callgate]\ncommand = "old"\n\n[profiles.fast]\nmodel = "m"\n`;
    const edited = editClientFile(config, codex, { name: "callgate", entry });
    expect(parseToml(edited)).toEqual({ model: "gpt-5", mcp_servers: { other: { command: "x" }, callgate: entry }, profiles: { fast: { model: "m" } } });
    expect(edited).toContain("# theirs");
    expect(editClientFile(edited, codex, { name: "callgate", entry })).toBe(edited);
    expect(parseToml(editClientFile(edited, codex, { name: "callgate", entry: undefined }))).toEqual({ model: "gpt-5", mcp_servers: { other: { command: "x" } }, profiles: { fast: { model: "m" } } });
    expect(parseToml(editClientFile("", codex, { name: "callgate", entry }))).toEqual({ mcp_servers: { callgate: entry } });
  });

  test("what cannot be changed alone is not changed", () => {
    expect(() => editClientFile(`note = """\n[mcp_servers.callgate]\n"""\n`, codex, { name: "callgate", entry })).toThrow("cannot be changed");
    expect(() => editClientFile(`mcp_servers = { callgate = { command = "old" } }\n`, codex, { name: "callgate", entry })).toThrow();
    expect(() => editClientFile(`{ "servers": `, vscode, { name: "callgate", entry })).toThrow("not valid JSON");
    expect(() => editClientFile(`= `, codex, { name: "callgate", entry })).toThrow("not valid TOML");
  });
});

test("each client gets the variables of the configuration by reference, in its own way", () => {
  const variables = variablesIn({ mcpServers: { a: { env: { X: "env:A_TOKEN" }, args: ["${B_KEY}", "${C:-c}"] } }, sql: { d: { url: "env:A_TOKEN" } } });
  expect(variables).toEqual(["A_TOKEN", "B_KEY"]);
  const gate = { command: "node", args: ["mcp"], variables: ["A_TOKEN"] };
  expect(clientEntry("claude-desktop", gate)).toEqual({ command: "node", args: ["mcp"] });
  expect(clientEntry("claude-code", gate)).toEqual({ type: "stdio", command: "node", args: ["mcp"], env: { A_TOKEN: "${A_TOKEN:-}" } });
  expect(clientEntry("vscode", gate)).toEqual({ type: "stdio", command: "node", args: ["mcp"], env: { A_TOKEN: "${env:A_TOKEN}" } });
  expect(clientEntry("cursor", gate)).toEqual({ command: "node", args: ["mcp"], env: { A_TOKEN: "${env:A_TOKEN}" } });
  expect(clientEntry("codex", gate)).toEqual({ command: "node", args: ["mcp"], env_vars: ["A_TOKEN"] });
  expect(clientEntry("gemini", gate)).toEqual({ command: "node", args: ["mcp"], env: { A_TOKEN: "$A_TOKEN" } });
});

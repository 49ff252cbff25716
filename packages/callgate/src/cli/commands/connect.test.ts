import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { commandWorld } from "../../fixtures/command-world.ts";
import { connectOn } from "./connect.ts";

function world(config = `{ "mcpServers": { "gh": { "command": "x", "env": { "T": "env:GH_TOKEN" } } } }`) {
  const made = commandWorld(config);
  const home = join(made.folder, "home");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  const host = { platform: "linux" as const, home, env: {}, folder: made.folder };
  return { ...made, home, connect: (asked: string | undefined, options: object = {}) => connectOn(host, { asked, ...options }, made.context) };
}

describe("callgate connect", () => {
  test("shows, writes with a copy beside, once, and takes out again", async () => {
    const { home, said, connect, file, folder } = world();
    const cursor = join(home, ".cursor", "mcp.json");
    const before = `{\n  "mcpServers": { "gh": { "command": "x", "env": { "T": "literal-secret" } } } // mine\n}\n`;
    writeFileSync(cursor, before);
    await expect(connect("cursor")).rejects.toThrow("Nobody can be asked here");
    expect(readFileSync(cursor, "utf8")).toBe(before);
    expect(await connect("cursor", { yes: true })).toBe(0);
    const written = readFileSync(cursor, "utf8");
    expect(JSON.parse(written.replace(" // mine", ""))).toMatchObject({ mcpServers: { gh: { command: "x" }, callgate: { command: process.execPath, args: [expect.stringMatching(/callgate\.mjs$/) as string, "mcp", "--config", file], env: { GH_TOKEN: "${env:GH_TOKEN}" } } } });
    const backups = readdirSync(join(home, ".cursor")).filter((name) => name.endsWith(".bak"));
    expect(backups).toHaveLength(1);
    expect(statSync(join(home, ".cursor", backups[0] ?? "")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(home, ".cursor", backups[0] ?? ""), "utf8")).toBe(before);
    expect(said.err).toContain("which no gate stands before: gh");
    expect(said.err).toContain(`not trusted yet, so the client will get nothing of it: callgate trust ${folder}`);
    expect(said.out + said.err).not.toContain("literal-secret");
    await connect("cursor", { yes: true });
    expect(said.out).toContain("connected already; nothing was changed");
    expect(await connect("cursor", { remove: true, yes: true })).toBe(0);
    expect(readFileSync(cursor, "utf8")).toContain("// mine");
    expect(JSON.parse(readFileSync(cursor, "utf8").replace(" // mine", ""))).toEqual({ mcpServers: { gh: { command: "x", env: { T: "literal-secret" } } } });
  });

  test("makes a file that is not there, lists who is connected, and prints for others", async () => {
    const { home, said, connect } = world();
    expect(await connect("codex", { yes: true })).toBe(0);
    expect(parse(readFileSync(join(home, ".codex", "config.toml"), "utf8"))).toMatchObject({ mcp_servers: { callgate: { command: process.execPath, env_vars: ["GH_TOKEN"] } } });
    await connect("claude-desktop", { yes: true });
    expect(said.err).toContain("Claude Desktop gives a server none of your variables");
    await connect(undefined);
    expect(said.out).toMatch(/codex +user +connected/);
    expect(said.out).toMatch(/cursor +user +no file/);
    said.out = "";
    await connect(undefined, { print: true });
    expect(JSON.parse(said.out)).toMatchObject({ mcpServers: { callgate: { command: process.execPath } } });
    said.out = "";
    await connect("vscode", { print: true });
    expect(JSON.parse(said.out)).toMatchObject({ servers: { callgate: { type: "stdio" } } });
  });

  test("a broken file is listed as one, with the place, and is not written", async () => {
    const { home, said, connect } = world();
    writeFileSync(join(home, ".cursor", "mcp.json"), `{\n  "mcpServers": { "gh" 1 }\n}\n`);
    await connect(undefined);
    expect(said.out).toMatch(/cursor +user +broken/);
    expect(said.err).toMatch(/mcp\.json cannot be read: it is not valid JSON: .* at line 2, column \d+/);
    await expect(connect("cursor", { yes: true })).rejects.toThrow(/is not valid JSON: .* at line 2, column \d+, so nothing is written/);
  });

  test("a shared file gets nothing of this machine", async () => {
    const { folder, connect } = world();
    await connect("vscode", { project: true, yes: true });
    expect(JSON.parse(readFileSync(join(folder, ".vscode", "mcp.json"), "utf8"))).toEqual({ servers: { callgate: { type: "stdio", command: "npx", args: ["-y", "callgate", "mcp"], env: { GH_TOKEN: "${env:GH_TOKEN}" } } } });
  });

  test("refuses a client it does not know, and one that has no such file", async () => {
    const { connect } = world();
    await expect(connect("emacs", { yes: true })).rejects.toThrow("no client whose file is known");
    await expect(connect("windsurf", { project: true, yes: true })).rejects.toThrow("reads no file beside a project");
  });
});

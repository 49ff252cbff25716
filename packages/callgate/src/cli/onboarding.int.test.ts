import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const server = fileURLToPath(new URL("../../../source-mcp/src/fixtures/scripted-server.mjs", import.meta.url));

/** @param home files of the user's home, by path */
function project(home: Readonly<Record<string, string>> = {}) {
  const made = createCliProject({}, {});
  for (const [name, text] of Object.entries(home)) {
    mkdirSync(dirname(join(made.root, name)), { recursive: true });
    writeFileSync(join(made.root, name), text);
  }
  const callgate = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => runCommand(args, { cwd: made.folder, env: { ...made.env, ...env } });
  return { ...made, callgate };
}

describe("onboarding", { timeout: 240_000 }, () => {
  test("init imports what other clients have, without their secrets, and what it writes works", () => {
    const { callgate, folder } = project({
      ".cursor/mcp.json": JSON.stringify({ mcpServers: { scripted: { command: process.execPath, args: [server, "ok"] }, keyed: { command: process.execPath, args: [server, "ok"], env: { A_TOKEN: "literal-secret" } } } }),
    });
    const init = callgate(["init"]);
    expect(init).toMatchObject({ status: 0, stdout: expect.stringContaining("imported scripted from Cursor") as string });
    expect(init.stderr).toContain('A_TOKEN  env A_TOKEN of "keyed"');
    expect(readFileSync(join(folder, "callgate.jsonc"), "utf8") + init.stdout + init.stderr).not.toContain("literal-secret");
    const search = callgate(["search"]);
    expect(search.stdout).toContain("scripted.echo");
    expect(search.stderr).toContain("A_TOKEN, which is not set");
    expect(callgate(["describe", "keyed.echo"], { A_TOKEN: "literal-secret" })).toMatchObject({ status: 0 });
  });

  test("init trusts no folder whose servers somebody else wrote", () => {
    const { callgate, folder } = project();
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: { theirs: { command: "touch", args: ["started"] } } }));
    const init = callgate(["--json", "init"]);
    expect(JSON.parse(init.stdout)).toMatchObject({ trusted: false, imported: [{ name: "theirs" }] });
    expect(callgate(["search"]).status).toBe(2);
  });
});

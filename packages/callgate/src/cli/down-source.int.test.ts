import { expect, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const config = { mcpServers: { crm: { command: "no-such-command-here" } }, rules: [{ allow: "*" }, { deny: "crm.*", when: { role: "guest" } }] };
const tools = 'import { defineTool } from "callgate";\nimport { z } from "zod";\nexport const now = defineTool({ description: "Says what time it is", input: z.object({}), effect: "read", handler: () => 1 });\n';

test("a source that is down is told by search, call, describe, types, check, run, doctor and sources, and what works works", { timeout: 120_000 }, () => {
  const { folder, env } = createCliProject({ "callgate.jsonc": JSON.stringify(config), "tools/clock.ts": tools }, {});
  const callgate = (...words: readonly string[]) => runCommand(["--trust", ...words], { cwd: folder, env });
  const why = "The source crm is down: it could not be started: the command was not found (not installed, not on PATH, or its cwd does not exist). Its tools cannot be called for now. What works: clock.";
  const called = callgate("--json", "call", "crm.get_customer");
  expect(JSON.parse(called.stdout)).toMatchObject({ outcome: "failed", effectStatus: "none", error: { code: "SOURCE_UNAVAILABLE", retryable: true, message: expect.stringContaining(why) } });
  expect(called.status).toBe(1);
  expect(callgate("call", "clock.now")).toMatchObject({ status: 0, stdout: "1\n" });
  expect(callgate("search", "customer").stderr).toContain('The MCP server "crm" could not be started');
  expect(callgate("describe", "crm.get_customer").stderr).toContain(why);
  expect(callgate("types", "crm").stderr).toContain(why);
  const checked = callgate("check", "-e", "return await tools.crm.get_customer({ id: 1 })");
  expect(checked).toMatchObject({ status: 1 });
  expect(checked.stdout + checked.stderr).toContain(`SOURCE_UNAVAILABLE at 1:20: ${why}`);
  expect(callgate("doctor").stdout).toMatch(/source crm\s+failed/);
  const listed = callgate("sources");
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringMatching(/clock\s+folder\s+ready\s+1[\s\S]*crm\s+mcp\s+down\s+0\s+it could not be started/) });
  expect(listed.stderr).toContain('The MCP server "crm" could not be started');
  // br-001: for who may call nothing of it, it is not there.
  const guest = callgate("--json", "--role", "guest", "call", "crm.get_customer");
  expect(JSON.parse(guest.stdout)).toMatchObject({ error: { code: "TOOL_NOT_FOUND", message: expect.stringContaining("No tool") } });
});

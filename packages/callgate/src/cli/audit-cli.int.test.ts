import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

const rules = [{ ask: "shop.build" }, { allow: "shop.*" }];

function project() {
  const { root, folder, env, state } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules }) }, { USER: "ann" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (args: readonly string[], input = "") => runCommand(["--trust", ...args], { cwd: folder, env, input });
  const json = (args: readonly string[]): unknown => JSON.parse(callgate(["--json", ...args]).stdout);
  return { callgate, json, folder, journal: join(state, "callgate", "journal.db") };
}

test("the audit trail is listed, shown and exported, and says what was refused", { timeout: 600_000 }, () => {
  const { callgate, json, folder } = project();
  expect(callgate(["audit", "ls"])).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("No calls are on record") as string });
  callgate(["call", "shop.order", '{"n":1}']);
  expect(callgate(["call", "shop.build", "{}"]).status).toBe(3);
  const rows = json(["audit", "ls"]) as readonly { readonly callId: string; readonly tool: string; readonly outcome: string }[];
  expect(rows).toMatchObject([{ tool: "shop.build", outcome: "denied" }, { tool: "shop.order", outcome: "ok", effectStatus: "done", args: { summary: { n: 1 } }, principal: { user: "local" } }]);
  const id = rows[1]?.callId ?? "";
  expect(callgate(["audit", "ls"]).stdout.split("\n")[0]).toMatch(/^when +call +who +tool +decision +by +outcome +arguments$/);
  expect(json(["audit", "ls", "--tool", "shop.o*", "--outcome", "ok", "--for-user", "local", "--since", "1h"])).toHaveLength(1);
  expect(json(["audit", "ls", "--until", "2020-01-01"])).toEqual([]);
  expect(callgate(["audit", "ls", "--limit", "1"]).stderr).toContain("there are more");
  expect(callgate(["audit", "show", id])).toMatchObject({ status: 0, stdout: expect.stringContaining('arguments     {"n":1}') as string });
  expect(json(["audit", "show", id])).toEqual(rows[1]);
  expect(callgate(["runs", "explain", id.replace(/\.\d+$/, "")])).toMatchObject({ status: 0, stdout: expect.stringContaining('Call 0: it called shop.order with {"n":1}.') as string });
  expect(callgate(["runs", "explain", "run_none"])).toMatchObject({ status: 1, stderr: expect.stringContaining("RUN_NOT_FOUND") as string });
  for (const [args, status, says] of [
    [["audit", "show", "run_none.0"], 1, "There is no run run_none"],
    [["audit", "show", "nonsense"], 1, "is no call"],
    [["audit", "ls", "--since", "yesterday"], 2, "is no time"],
    [["audit", "ls", "--tool", "a.b.c"], 2, "can match no tool"],
    [["audit", "ls", "--outcome", "good"], 2, "Allowed choices"],
    [["audit", "export", "--format", "xml"], 2, "Allowed choices"],
  ] as const) expect([args, callgate(args)]).toMatchObject([args, { status, stderr: expect.stringContaining(says) as string }]);
  expect(callgate(["audit", "export"]).stdout.trimEnd().split("\n").map((line) => (JSON.parse(line) as { callId: string }).callId)).toEqual(rows.map(({ callId }) => callId));
  expect(callgate(["audit", "export", "--format", "otel", "--tool", "shop.order"]).stdout).toContain(`{"key":"gen_ai.tool.call.id","value":{"stringValue":"${id}"}}`);
  expect(json(["audit", "export", "--format", "csv", "--out", "audit.csv"])).toEqual({ file: "audit.csv", format: "csv", rows: 2 });
  expect(readFileSync(join(folder, "audit.csv"), "utf8").trimEnd().split("\n")).toHaveLength(3);
  expect(statSync(join(folder, "audit.csv")).mode & 0o777).toBe(0o600);
  expect(callgate(["audit", "export", "--format", "csv", "--out", "audit.csv"])).toMatchObject({ status: 2, stderr: expect.stringContaining("overwrites nothing") as string });
});

test("audit verify finds and locates a changed row, and a record put back, with its exit code", { timeout: 600_000 }, () => {
  const { callgate, json, folder, journal } = project();
  callgate(["call", "shop.order", '{"n":1}']);
  expect(callgate(["audit", "verify", "--write-checkpoint", "head.json"])).toMatchObject({ status: 0, stdout: expect.stringContaining("the record is as it was written") as string });
  expect(json(["audit", "verify", "--checkpoint", "head.json"])).toMatchObject({ ok: true, runs: 1, findings: [] });
  expect(callgate(["audit", "verify", "--checkpoint", "none.json"])).toMatchObject({ status: 2, stderr: expect.stringContaining("Cannot read the checkpoint") as string });
  expect(callgate(["audit", "verify", "--checkpoint", "callgate.jsonc"])).toMatchObject({ status: 2, stderr: expect.stringContaining("is no checkpoint") as string });
  const head = JSON.parse(readFileSync(join(folder, "head.json"), "utf8")) as { lanes: { position: number }[] };
  expect(head.lanes[0]?.position).toBeGreaterThan(0);
  const database = new DatabaseSync(journal);
  database.exec("update entries set body = replace(body, 'shop.order', 'shop.other')");
  database.close();
  const changed = json(["audit", "verify"]) as { readonly ok: boolean; readonly findings: readonly { readonly fault: string }[] };
  expect([changed.ok, changed.findings[0]?.fault]).toEqual([false, "entry-changed"]);
  expect(callgate(["audit", "verify"])).toMatchObject({ status: 1, stdout: expect.stringContaining("the record is not as it was written") as string });
  // A new state folder under the same checkpoint is not a continuation of it.
  rmSync(journal);
  callgate(["call", "shop.order", '{"n":2}']);
  expect((json(["audit", "verify", "--checkpoint", "head.json"]) as typeof changed).findings).toMatchObject([{ fault: "checkpoint" }]);
});

test("a legal hold keeps a run from erasing and pruning until it is released, and the log says so", { timeout: 600_000 }, () => {
  const { callgate, json } = project();
  callgate(["call", "shop.order", '{"n":1}']);
  const [{ runId } = { runId: "" }] = json(["runs", "ls"]) as readonly { readonly runId: string }[];
  expect(callgate(["audit", "holds"])).toMatchObject({ status: 0, stderr: expect.stringContaining("No legal holds") as string });
  expect(callgate(["audit", "hold", "--reason", " "])).toMatchObject({ status: 2, stderr: expect.stringContaining("needs a reason") as string });
  expect(callgate(["audit", "hold", "--reason", "case 7", "--until", "soon"])).toMatchObject({ status: 2, stderr: expect.stringContaining("is no time") as string });
  const { holdId } = json(["audit", "hold", "--reason", "case 7", "--run", runId]) as { readonly holdId: string };
  expect(json(["audit", "holds"])).toMatchObject([{ holdId, reason: "case 7", by: "local", covers: { runId } }]);
  expect(callgate(["runs", "erase", runId])).toMatchObject({ status: 1, stderr: expect.stringContaining("LEGAL_HOLD") as string });
  expect(callgate(["runs", "prune", "--max-mib", "0"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^removed 0 runs, .* · 1 run left under a legal hold\n$/) as string });
  expect(callgate(["audit", "release", "hold_none"]).status).toBe(2);
  expect(callgate(["audit", "release", holdId])).toMatchObject({ status: 0, stdout: `released ${holdId}\n` });
  expect(callgate(["audit", "release", holdId]).status).toBe(2);
  expect(callgate(["runs", "erase", runId]).status).toBe(0);
  const kinds = (json(["audit", "log"]) as readonly { readonly event: { readonly kind: string } }[]).map(({ event }) => event.kind);
  expect(kinds.slice(0, 3)).toEqual(["run-erased", "hold-released", "hold-placed"]);
  expect(json(["audit", "log", "--limit", "1"])).toHaveLength(1);
  expect(callgate(["audit", "verify"]).status).toBe(0);
});

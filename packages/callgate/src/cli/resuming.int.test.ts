import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

function project() {
  const { root, folder, state, env } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ allow: "*" }], suspendAfterMs: 0 }) }, {});
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env });
  const ledger = (): string => (existsSync(join(folder, "ledger")) ? readFileSync(join(folder, "ledger"), "utf8") : "");
  return { root, folder, state, env, callgate, ledger };
}

test("code-mode 15: a tool that was changed while its run waited is named, nothing is performed, and the run goes on once the change is accepted", { timeout: 600_000 }, () => {
  const { folder, callgate, ledger } = project();
  const { runId } = JSON.parse(callgate("--json", "exec", "-e", 'import { shop, waitFor } from "tools"; await waitFor("go"); return (await shop.order({ n: 1 })).n').stdout) as { runId: string };
  writeFileSync(join(folder, "tools/shop.ts"), shopTools.replace("input: n, output: n,\n  handler({ n }) { note(\"order \"", "input: z.object({ n: z.number(), gift: z.boolean().optional() }), output: n,\n  handler({ n }) { note(\"order \""));
  expect(callgate("runs", "signal", runId, "go").status).toBe(0);
  const refused = callgate("runs", "resume", runId);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/RUN_NOT_RESUMABLE.*shop\.order.*Nothing was performed.*--accept-changes/) as string });
  expect(ledger()).toBe("");
  expect(callgate("runs", "show", runId).stdout).toMatch(/did not go on: .*shop\.order has another interface/);
  expect(callgate("runs", "resume", runId, "--accept-changes")).toMatchObject({ status: 0, stdout: "1\n", stderr: expect.stringContaining("shop.order") as string });
  expect(ledger()).toBe("order 1\n");
});

/** For root nothing is read-only, so that this is tried as the user "nobody". */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const canRead = spawnSync(process.execPath, ["-e", `require("node:fs").readFileSync(${JSON.stringify(callgateBin)})`], nobody).status === 0;

test.skipIf(process.platform === "win32" || !canRead)("a state folder that cannot be written is named with what to do, before anything is run (skipped where that user cannot read this checkout, and on Windows)", { timeout: 600_000 }, () => {
  const { root, folder, state, env, ledger } = project();
  const callgate = (...args: readonly string[]) => spawnSync(process.execPath, [callgateBin, "--trust", ...args], { cwd: folder, env, encoding: "utf8", ...nobody });
  mkdirSync(join(state, "callgate"), { recursive: true });
  for (const path of [root, folder, state, join(state, "callgate")]) {
    if (nobody.uid !== undefined) chownSync(path, nobody.uid, nobody.gid);
    chmodSync(path, 0o700);
  }
  const program = ["exec", "-e", 'import { shop } from "tools"; return (await shop.order({ n: 1 })).n'] as const;
  expect(callgate(...program)).toMatchObject({ status: 0, stdout: "1\n" });
  for (const file of ["journal.db", "journal.db-wal", "journal.db-shm"]) if (existsSync(join(state, "callgate", file))) chmodSync(join(state, "callgate", file), 0o400);
  chmodSync(join(state, "callgate"), 0o500);
  for (const args of [program, ["runs", "ls"], ["worker"]]) {
    const { status, stderr } = callgate(...args);
    expect([status, stderr], args.join(" ")).toEqual([1, expect.stringMatching(/JOURNAL_UNAVAILABLE.*journal\.db.*writable/)]);
  }
  expect(callgate("doctor")).toMatchObject({ status: 1, stdout: expect.stringMatching(/state folder.*cannot be written[^]*to do: make .* writable/) as string });
  expect(ledger()).toBe("order 1\n");
});

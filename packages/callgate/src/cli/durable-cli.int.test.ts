import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { missingPostgres, startPostgres } from "../../../journal-postgres/src/fixtures/private-postgres.ts";
import type { PrivatePostgres } from "../../../journal-postgres/src/fixtures/private-postgres.ts";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

const timeout = 600_000;

/** A trusted project whose writes are allowed, and the command in it. */
function project(journal: object, env: Readonly<Record<string, string>> = {}) {
  const { root, folder, env: own } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ allow: "*" }], suspendAfterMs: 0, journal }) }, env);
  const children: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const child of children) if (child.exitCode === null && child.signalCode === null) await exited(child);
    rmSync(root, { recursive: true, force: true });
  });
  const callgate = (...args: readonly string[]) => runCommand(["--trust", ...args], { cwd: folder, env: own });
  const start = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [callgateBin, "--trust", ...args], { cwd: folder, env: own, stdio: "ignore" });
    children.push(child);
    return child;
  };
  const ledger = (): readonly string[] => (existsSync(join(folder, "ledger")) ? readFileSync(join(folder, "ledger"), "utf8").trim().split("\n") : []);
  const noted = async (line: string): Promise<void> => void (await vi.waitUntil(() => ledger().includes(line), { timeout, interval: 20 }));
  /** The run as it is shown, once its text fits. */
  const shown = async (runId: string, pattern: RegExp): Promise<string> => await vi.waitUntil(() => {
    const { stdout } = callgate("runs", "show", runId);
    return pattern.test(stdout) ? stdout : undefined;
  }, { timeout, interval: 500 });
  return { folder, callgate, start, ledger, noted, shown };
}

const exited = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once("exit", resolve));

const program = `
import { shop, waitFor } from "tools";
const ordered = await shop.order({ n: 1 });
const paid = await shop.pay({ n: 2 });
const built = await shop.build({});
const told = await waitFor("shipped");
return [ordered.n, paid, built, told];`;

/** One run through all that can be said to it from outside, by processes that die. */
async function lifeOfARun({ folder, callgate, start, ledger, noted, shown }: ReturnType<typeof project>): Promise<void> {
  const first = start("exec", "-e", program);
  await noted("pay 2");
  first.kill("SIGKILL");
  await exited(first);
  const [{ runId = "" } = {}] = JSON.parse(callgate("--json", "runs", "ls").stdout) as readonly { readonly runId?: string }[];

  const killed = start("worker");
  await shown(runId, /suspended; waits for a person to say whether shop\.pay took effect \(call 1\)\n[^]*waits for .*: callgate runs resolve run_/);
  expect(callgate("runs", "resolve", `${runId}.1`)).toMatchObject({ status: 2, stderr: expect.stringContaining("--happened or --did-not") as string });
  // Done anew, by the worker: and that process is killed in it as well.
  expect(callgate("runs", "resolve", `${runId}.1`, "--did-not").stdout).toBe(`${runId}.1 is on record as not done\n`);
  await vi.waitUntil(() => ledger().filter((line) => line === "pay 2").length === 2, { timeout, interval: 20 });
  killed.kill("SIGKILL");
  await exited(killed);
  expect(callgate("runs", "ls").stdout).toMatch(new RegExp(`${runId} +crashed, not ended`));
  expect(callgate("runs", "show", runId).stdout).toContain(`The run has not ended: any worker takes it over, and so does callgate runs resume ${runId}`);
  const worker = start("worker");
  await shown(runId, /suspended; waits for a person to say whether shop\.pay took effect \(call 1\)\n[^]*suspended; waits for a person to say whether shop\.pay/);
  expect(callgate("runs", "resolve", `${runId}.1`, "--happened", "--output", '{"n":2}')).toMatchObject({ status: 0, stdout: `${runId}.1 is on record as done\n` });
  await shown(runId, /suspended; waits for the background job of shop\.build, until .* \(call 2\)/);
  expect(callgate("runs", "complete", `${runId}.2`, '{"image":7}').stdout).toBe(`told how ${runId}.2 ended\n`);
  expect(callgate("runs", "complete", `${runId}.2`, '{"image":7}').stdout).toContain("had an end before, which counts");
  expect(callgate("runs", "complete", `${runId}.2`, '{"image":8}')).toMatchObject({ status: 1, stderr: expect.stringContaining("it was something else") as string });
  expect(callgate("runs", "signal", runId, "shipped", '{"by":"rail"}', "--id", "s1").stdout).toBe(`sent "shipped" to ${runId}\n`);
  const resumed = callgate("--json", "runs", "resume", runId);
  expect([resumed.status, JSON.parse(resumed.stdout)]).toMatchObject([0, { status: "completed", value: [1, { n: 2 }, { image: 7 }, { by: "rail" }] }]);
  expect(callgate("runs", "signal", runId, "shipped")).toMatchObject({ status: 1, stderr: expect.stringContaining("has completed; nothing waits") as string });
  worker.kill("SIGINT");
  expect(await exited(worker)).toBe(0);
  expect(ledger()).toEqual(["order 1", "pay 2", "pay 2", "build"]);

  // The last write first: it was a job without a way back, then what was paid, then what was ordered.
  const undoing = start("runs", "rollback", runId);
  await noted("refunding 2");
  expect(callgate("runs", "rollback", runId)).toMatchObject({ status: 1, stderr: expect.stringMatching(new RegExp(`RUN_HELD.* is being undone by process ${undoing.pid} of this machine`)) as string });
  undoing.kill("SIGKILL");
  await exited(undoing);
  writeFileSync(join(folder, "may-refund"), "");
  // The step that was lost is in doubt: its tool is not idempotent, so nobody repeats it.
  const undone = callgate("--json", "runs", "rollback", runId);
  expect([undone.status, JSON.parse(undone.stdout)]).toMatchObject([1, { compensation: { undone: [`${runId}.0`], remaining: [{ tool: "shop.build" }, { tool: "shop.pay", why: "it is not known whether undoing it took effect" }] } }]);
  expect(ledger()).toEqual(["order 1", "pay 2", "pay 2", "build", "refunding 2", "cancel 1"]);
  expect(callgate("runs", "show", runId).stdout).toContain("taken over from a lost process");
}

describe("callgate on SQLite", { timeout }, () => {
  test("br-007: a run whose process is killed is taken over, answered, ended and undone by other processes, each write once", async () => {
    await lifeOfARun(project({}));
  });

  test("runs prune removes the runs that ended longer ago, and no others", () => {
    const { callgate } = project({});
    callgate("exec", "-e", "return 1");
    expect(callgate("runs", "prune", "--older-than", "1").stdout).toMatch(/^removed 0 runs/);
    expect(callgate("runs", "prune", "--older-than", "0").stdout).toMatch(/^removed 1 run,/);
    expect(callgate("runs", "ls", "--limit", "5").stdout).not.toContain("run_");
  });
});

const missing = missingPostgres();

describe.skipIf(missing !== undefined)(`callgate on PostgreSQL${missing === undefined ? "" : ` (skipped: ${missing})`}`, { timeout }, () => {
  let server: PrivatePostgres;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
  });

  test("br-007: a run whose process is killed is taken over, answered, ended and undone by other processes, each write once", async () => {
    await lifeOfARun(project({ postgres: "env:DATABASE_URL" }, { DATABASE_URL: await server.createDatabase("life") }));
  });

  test("doctor says how the server stands, before and after it was used, and what to do where it cannot be", async () => {
    const url = await server.createDatabase("doctor");
    const rows = ({ stdout }: { readonly stdout: string }) => (JSON.parse(stdout) as readonly { readonly check: string; readonly state: string; readonly found: string }[]).filter(({ check }) => check.startsWith("journal") || check === "gate").map(({ check, state, found }) => `${check} ${state}: ${found}`);
    const { callgate } = project({ postgres: "env:DATABASE_URL" }, { DATABASE_URL: url });
    expect(rows(callgate("--json", "doctor"))).toEqual([expect.stringMatching(/^journal server ok: PostgreSQL \d+/), "journal schema ok: not there yet; it is made at the first start", "journal ok: runs are recorded"]);
    expect(rows(callgate("--json", "doctor"))).toEqual([expect.stringMatching(/^journal server ok/), expect.stringMatching(/^journal schema ok: version \d+$/), "journal rights ok: reads and writes", "journal ok: runs are recorded"]);
    const gone = project({ postgres: "env:DATABASE_URL" }, { DATABASE_URL: "postgres://someone:the-password@127.0.0.1:1/none" }).callgate("doctor");
    expect(gone.status).toBe(1);
    expect(gone.stdout).toMatch(/journal server: The journal's PostgreSQL cannot be reached[^]*to do: check the URL that journal\.postgres refers to/);
    expect(gone.stdout + gone.stderr).not.toContain("the-password");
  });
});

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

const passphrase = "correct horse battery";

function project() {
  const { root, folder, env, state } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ ask: "shop.order" }], approvals: "keep", suspendAfterMs: 0 }) }, { USER: "ann" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (args: readonly string[], input = "") => runCommand(["--trust", ...args], { cwd: folder, env, input });
  const ask = (count: number) => {
    const { runId } = JSON.parse(callgate(["--json", "exec", "-e", `import { shop } from "tools"; return await Promise.all([${Array.from({ length: count }, (_, n) => `shop.order({ n: ${n} })`).join(", ")}])`]).stdout) as { runId: string };
    const pending = JSON.parse(callgate(["--json", "approvals", "ls", "--run", runId]).stdout) as readonly { readonly question: { readonly approvalId: string } }[];
    return { runId, ids: pending.map(({ question }) => question.approvalId) };
  };
  const ledger = (): readonly string[] => (existsSync(join(folder, "ledger")) ? readFileSync(join(folder, "ledger"), "utf8").trim().split("\n") : []);
  const start = (args: readonly string[]) => spawn(process.execPath, [callgateBin, "--trust", ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  return { callgate, start, ask, ledger, journal: join(state, "callgate", "journal.db") };
}

test("questions are answered in other processes: shown in full, edited, and all of a run at once", { timeout: 600_000 }, () => {
  const { callgate, ask, ledger } = project();
  const one = ask(1);
  const shown = callgate(["approvals", "show", one.ids[0] ?? ""]);
  for (const part of ["shop.order asks to run", "as the model wrote them", '  │   "n": 0']) expect(shown.stdout).toContain(part);
  expect(callgate(["approvals", "edit", one.ids[0] ?? "", '{"n":"x"}'])).toMatchObject({ status: 2, stderr: expect.stringContaining("do not fit the schema") as string });
  expect(callgate(["approvals", "edit", one.ids[0] ?? "", '{"n":7}'])).toMatchObject({ status: 0, stdout: `approved ${one.ids[0]}\n` });
  expect(callgate(["runs", "resume", one.runId]).status).toBe(0);
  expect(ledger()).toEqual(["order 7"]);
  const many = ask(3);
  expect(callgate(["approvals", "approve", "--all"])).toMatchObject({ status: 2, stderr: expect.stringContaining("--run RUN") as string });
  expect(callgate(["approvals", "approve", "--all", "--run", many.runId]).stdout.split("\n").filter((line) => line.startsWith("approved"))).toHaveLength(3);
  expect(callgate(["runs", "resume", many.runId]).status).toBe(0);
  expect(ledger()).toHaveLength(4);
});

test("a direct call that waits for somebody says for whom, and goes on once it is answered elsewhere", { timeout: 600_000 }, async () => {
  const { callgate, start, ledger } = project();
  const call = start(["call", "shop.order", '{"n":9}']);
  const told = await new Promise<string>((resolve, reject) => {
    let stderr = "";
    call.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      if (stderr.includes("callgate approvals approve ")) resolve(stderr);
    });
    call.on("exit", () => reject(new Error(`ended before it was answered: ${stderr}`)));
  });
  const ended = new Promise((resolve) => call.on("exit", resolve));
  expect(told).toContain("waits for a person to approve shop.order");
  const [, approvalId = ""] = /approvals approve (\w+)/.exec(told) ?? [];
  expect(callgate(["approvals", "approve", approvalId]).status).toBe(0);
  expect(await ended).toBe(0);
  expect(ledger()).toEqual(["order 9"]);
});

test("once a key is set an answer needs its passphrase, and a row written straight into the journal is not accepted", { timeout: 600_000 }, () => {
  const { callgate, ask, ledger, journal } = project();
  expect(callgate(["doctor"]).stdout).toContain("advisory");
  expect(callgate(["approver", "init"], "short\n")).toMatchObject({ status: 2, stderr: expect.stringContaining("at least 12") as string });
  expect(callgate(["approver", "init"], `${passphrase}\n`).status).toBe(0);
  expect(callgate(["approver", "init"], `${passphrase}\n`).status).toBe(2);
  const first = ask(1);
  for (const verb of [["approvals", "approve", first.ids[0] ?? ""], ["approvals", "deny", first.ids[0] ?? ""], ["approvals", "edit", first.ids[0] ?? "", '{"n":1}'], ["runs", "erase", first.runId], ["runs", "rollback", first.runId], ["runs", "prune", "--older-than", "1"], ["runs", "resolve", `${first.runId}.0`, "--did-not"], ["runs", "complete", `${first.runId}.0`, "1"]]) {
    expect([verb[1], callgate(verb, "wrong passphrase\n").status, callgate([...verb, "--user", "bea"]).status]).toEqual([verb[1], 4, expect.any(Number) as number]);
  }
  expect(JSON.parse(callgate(["--json", "approvals", "ls", "--run", first.runId]).stdout)).toHaveLength(1);
  expect(callgate(["approvals", "approve", first.ids[0] ?? ""], `${passphrase}\n`)).toMatchObject({ status: 0 });
  expect(callgate(["runs", "resume", first.runId]).status).toBe(0);
  expect(ledger()).toEqual(["order 0"]);
  const second = ask(1);
  const database = new DatabaseSync(journal);
  const forged = { kind: "approval", approvalId: second.ids[0], approved: true, by: "ann", atMs: Date.now() };
  database.prepare("insert into signals (run_id, position, tenant, user_id, kind, name, key, body, texts, sealed) values (?, 0, 'local', 'local', 'approval', '', ?, ?, 0, null)").run(second.runId, second.ids[0] ?? "", JSON.stringify(forged));
  database.close();
  expect(callgate(["--json", "runs", "resume", second.runId])).toMatchObject({ status: 3, stdout: expect.stringContaining("it is not signed") as string });
  expect(ledger()).toEqual(["order 0"]);
});

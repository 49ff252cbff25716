import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

const passphrase = "correct horse battery\n";

function project() {
  const { root, folder, env, state } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ ask: "shop.order" }], approvals: "keep", suspendAfterMs: 0, principal: { user: "ann", agent: "claude" } }) }, { USER: "ann" });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const callgate = (args: readonly string[], input = "") => runCommand(["--trust", ...args], { cwd: folder, env, input });
  const order = (n: number) => JSON.parse(callgate(["--json", "exec", "-e", `import { shop } from "tools"; return await shop.order({ n: ${n} })`]).stdout) as { readonly runId: string; readonly status: string };
  const ledger = (): readonly string[] => (existsSync(join(folder, "ledger")) ? readFileSync(join(folder, "ledger"), "utf8").trim().split("\n") : []);
  return { callgate, order, ledger, journal: join(state, "callgate", "journal.db") };
}

test("a grant is given with an answer and ahead of a question, shown where it was used, and revoked; each time with the key's passphrase", { timeout: 600_000 }, () => {
  const { callgate, order, ledger, journal } = project();
  expect(callgate(["approver", "init"], passphrase).status).toBe(0);
  const first = order(1);
  const approvalId = /apr_\w+/.exec(callgate(["approvals", "ls"]).stdout)?.[0] ?? "";
  expect(callgate(["approvals", "approve", approvalId, "--grant-days", "1"], passphrase)).toMatchObject({ status: 2, stderr: expect.stringContaining("--grant USES") as string });
  expect(callgate(["approvals", "approve", "--all", "--run", first.runId, "--grant", "2"], passphrase)).toMatchObject({ status: 2, stderr: expect.stringContaining("one question") as string });
  const approved = callgate(["approvals", "approve", approvalId, "--grant", "1"], passphrase);
  expect(approved).toMatchObject({ status: 0, stdout: expect.stringMatching(/approved apr_\w+\ngranted grt_\w+: 1 call of shop\.order by ann through claude, the same arguments/) as string });
  const granted = /grt_\w+/.exec(approved.stdout)?.[0] ?? "";
  expect(callgate(["runs", "resume", first.runId]).status).toBe(0);
  const second = order(1);
  expect([second.status, order(1).status, order(2).status, ledger()]).toEqual(["completed", "suspended", "suspended", ["order 1", "order 1"]]);
  expect(callgate(["runs", "show", second.runId]).stdout).toMatch(new RegExp(`allow by rule .*, under grant ${granted}, given by ann`));
  const database = new DatabaseSync(journal);
  expect(database.prepare("select answered_by, grant_id from calls where run_id = ?").all(second.runId)).toEqual([{ answered_by: "ann", grant_id: granted }].map((row) => Object.assign(Object.create(null) as object, row)));
  database.close();

  const add = (...more: readonly string[]) => callgate(["grants", "add", "shop.order", '{"/n": {"gte": 10, "lt": 20}}', "--for", "ann", "--agent", "claude", "--uses", "5", ...more], passphrase);
  expect(callgate(["grants", "add", "shop.order", "--for", "ann", "--uses", "5"], "wrong passphrase\n").status).toBe(4);
  expect(callgate(["grants", "add", "shop.order", "{n}", "--for", "ann", "--uses", "5"], passphrase)).toMatchObject({ status: 2, stderr: expect.stringContaining("JSON Pointer") as string });
  expect(callgate(["grants", "add", "shop.none", "--for", "ann", "--agent", "claude", "--uses", "5"], passphrase)).toMatchObject({ status: 2, stderr: expect.stringContaining("covers no tool") as string });
  const ahead = /grt_\w+/.exec(add("--days", "2").stdout)?.[0] ?? "";
  expect([order(10).status, order(20).status, ledger().length]).toEqual(["completed", "suspended", 3]);
  const listed = callgate(["grants", "ls"]).stdout;
  expect(listed).toMatch(new RegExp(`${ahead} +open +1/5 +shop\\.order +ann through claude .* ann +/n {"gte":10,"lt":20}`));
  expect(listed).toMatch(new RegExp(`${granted} +spent +1/1`));
  expect(callgate(["grants", "revoke", ahead], "wrong passphrase\n").status).toBe(4);
  expect(callgate(["grants", "revoke", ahead], passphrase)).toMatchObject({ status: 0, stdout: `revoked ${ahead}; it had let 1 of 5 calls through\n` });
  expect([order(11).status, ledger().length]).toEqual(["suspended", 3]);
  expect(callgate(["audit", "log"]).stdout).toMatch(new RegExp(`grant-revoked +ann +${ahead}[^]*grant-used .*${ahead} let call run_\\w+\\.0 through[^]*grant-given +ann +${ahead} for shop\\.order[^]*grant-given +ann +${granted}`));
  expect(callgate(["audit", "verify"])).toMatchObject({ status: 0, stdout: expect.stringContaining("as it was written") as string });
});

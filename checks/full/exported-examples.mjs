// Every run of every example as a test that stands alone: exported, edited, and replayed in a namespace without a network,
// by a process that has neither the example's tools nor its data. The examples of the code executor are left out: their
// blocks run in processes that cannot do the same twice, so there is nothing to export.
// `node checks/full/exported-examples.mjs [EXAMPLE...]`
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const examples = process.argv.length > 2 ? process.argv.slice(2) : ["twenty-lines/twenty-lines.ts", "main-job/demo.ts", "expense-week/week.ts", "workflows/workflows.ts"];
const isolated = spawnSync("unshare", ["--net", "--map-root-user", "true"]).status === 0 ? ["unshare", "--net", "--map-root-user"] : [];
let failed = 0;
for (const example of examples) {
  const root = mkdtempSync(join(tmpdir(), "callgate-exported-"));
  const env = { ...process.env, EXPORT_FOLDER: root, XDG_STATE_HOME: join(root, "state"), NO_COLOR: "1" };
  // In the environment, for an example may start processes of its own.
  const ran = spawnSync(process.execPath, [path(`../../examples/${example}`)], { env: { ...env, NODE_OPTIONS: `--import=${path("export-hook.mjs")}` }, encoding: "utf8" });
  const told = existsSync(join(root, "told.jsonl")) ? readFileSync(join(root, "told.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line)) : [];
  symlinkSync(path("../../node_modules"), join(root, "node_modules"), "dir");
  const exported = told.filter(({ what }) => what === "exported");
  const tested = exported.length === 0 ? undefined : spawnSync("env", [...isolated, process.execPath, path("../../node_modules/vitest/vitest.mjs"), "run"], { cwd: root, env, encoding: "utf8" });
  const isGood = ran.status === 0 && (tested === undefined || tested.status === 0);
  if (!isGood) failed += 1;
  console.log(`${isGood ? "ok    " : "FAILED"} ${example}: ${told.length} runs, ${exported.length} exported, edited and replayed${isolated.length === 0 ? " (with a network: no namespace could be made)" : " without a network"}`);
  for (const { runId, status, language, what } of told) if (what !== "exported") console.log(`         ${runId} (${language}, ${status}) ${what}`);
  if (!isGood) console.log(ran.status === 0 ? `${tested?.stdout ?? ""}${tested?.stderr ?? ""}`.slice(-4_000) : ran.stderr.slice(-2_000));
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

// The published task sets as suites, whole: the recorded calls of every task as one program through a gate, its end state
// judged; and the same with the last write missing, which must not pass. Beside them the suites of the examples.
// `node checks/full/eval.mjs [suite...] [--prove-every N]`: what must not pass is tried of each N-th case. Default: of all.
import { globSync } from "node:fs";
import { basename, dirname } from "node:path";
import { proveSuite, runSuite, scriptedSubject } from "../../packages/callgate/src/eval.ts";
import { loadSuite } from "../../packages/callgate/src/eval/load-suite.ts";
import { hasAgentData } from "../suites/agent-data.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const sets = hasAgentData ? ["tau-retail", "workbench", "bfcl-base"].map((name) => [name, `checks/suites/${name}.ts`]) : [];
if (!hasAgentData) console.log("the published sets are skipped: they are not beside this repository (../shared/data/agent)");
const examples = globSync("examples/*/suite.yaml").sort().map((file) => [basename(dirname(file)), file]);
const at = process.argv.indexOf("--prove-every");
const proveEvery = at < 0 ? 1 : Number(process.argv[at + 1]);
const wanted = process.argv.slice(2, at < 0 ? undefined : at);
const percent = (share) => `${(share * 100).toFixed(1)} %`;

for (const [name, file] of [...sets, ...examples].filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
  const suite = await loadSuite(file);
  const report = await runSuite({ suite, subject: scriptedSubject(), concurrency: 2 });
  const proofs = await proveSuite({ suite: { ...suite, cases: suite.cases.filter(({ skip }, index) => skip === undefined && index % proveEvery === 0) }, concurrency: 2 });
  const { all } = report;
  const works = proofs.reduce((sum, { tried }) => sum + tried, 0);
  const broken = proofs.filter(({ holds }) => !holds);
  const others = report.cases.filter(({ status }) => status !== "passed" && status !== "skipped");
  const reasons = new Map();
  for (const { status, reason } of report.cases) if (status === "skipped") reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const table = markdownTable(
    ["cases", "passed", "failed", "skipped", "not judged", "pass rate (95 %)", "effects", "fail when nothing is done", "works that must fail, and do"],
    [[all.cases, all.passed, all.failed + all.flaky, all.skipped, all.broken, `${percent(all.passRate.rate)} (${percent(all.passRate.low)} to ${percent(all.passRate.high)})`, all.effects.done, `${proofs.length - broken.length} of ${proofs.length}`, works - broken.reduce((sum, { problems }) => sum + problems.length, 0)]],
  );
  const notes = [
    ...[...reasons].map(([reason, count]) => `- ${count} skipped: ${reason}`),
    ...others.map(({ id, status, reason, attempts }) => `- ${id}: ${status}: ${reason ?? attempts[0]?.failures[0]?.message ?? ""}`),
    ...broken.map(({ id, problems }) => `- ${id} proves nothing: ${problems.join("; ")}`),
  ];
  console.log(`${name}\n${table}\n${notes.join("\n")}`);
  writeSection({
    page: "eval.md",
    intro: "# Suites, run whole\n\nThe recorded calls of published task sets, and the scripts of the examples, through a gate: no model is asked, so this says what the\ngate, the tools and the judge do, and nothing of any model. What decides: [evaluation](../guide/eval.md). The sets are others' work\n(tau-bench and WorkBench, MIT; BFCL v4, Apache-2.0) and not part of this repository; of BFCL the tools were written anew from their\nwords and recorded answers.",
    section: name,
    text: `${measured(`node checks/full/eval.mjs ${name}${proveEvery === 1 ? "" : ` --prove-every ${proveEvery}`}`)}\n\n${table}${notes.length === 0 ? "" : `\n\n${notes.join("\n")}`}`,
  });
}

// Prints the hostile cases of docs/security.md from the results the real parts gave. The results are written, and
// compared on every run, by the tests named beside them.
import { readFileSync } from "node:fs";

/** packages/sandbox-quickjs/src/security.int.test.ts */
export const hostilePrograms = () => caseTable("packages/sandbox-quickjs/security-results.json");
/** packages/callgate/src/output-cases.int.test.ts */
export const hostileOutput = () => caseTable("packages/callgate/output-results.json");

function caseTable(file) {
  const results = JSON.parse(readFileSync(file, "utf8"));
  const rows = Object.entries(results).map(([id, { title, result }]) => `| ${id} | ${title.replaceAll("|", "\\|")} | ${result} |`);
  return ["| case | what is tried | what came of it |", "| --- | --- | --- |", ...rows].join("\n");
}

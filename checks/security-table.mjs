// Prints the hostile cases of docs/security.md from the results the real sandbox gave. The results are written, and
// compared on every run, by packages/sandbox-quickjs/src/security.int.test.ts.
import { readFileSync } from "node:fs";

export function securityTable() {
  const results = JSON.parse(readFileSync("packages/sandbox-quickjs/security-results.json", "utf8"));
  const rows = Object.entries(results).map(([id, { title, result }]) => `| ${id} | ${title.replaceAll("|", "\\|")} | ${result} |`);
  return ["| case | what is tried | what came of it |", "| --- | --- | --- |", ...rows].join("\n");
}

// Prints the hostile cases of docs/security.md from the results the real parts gave. The results are written, and
// compared on every run, by the tests named beside them.
import { readFileSync } from "node:fs";

/** packages/sandbox-quickjs/src/security.int.test.ts */
export const hostilePrograms = () => caseTable("packages/sandbox-quickjs/security-results.json");
/** packages/callgate/src/output-cases.int.test.ts */
export const hostileOutput = () => caseTable("packages/callgate/output-results.json");

/** packages/sandbox-process/src/fixtures/security-record.ts */
export const hostileGuests = () => {
  const results = JSON.parse(readFileSync("packages/sandbox-process/security-results.json", "utf8"));
  const worlds = ["bubblewrap", "bubblewrap, ordinary user", "docker", "podman"];
  const rows = Object.entries(results).map(([id, { title, ...found }]) => `| ${id} | ${title.replaceAll("|", "\\|")} | ${worlds.map((world) => found[world] ?? "not run").join(" | ")} |`);
  return [`| case | what is tried | ${worlds.join(" | ")} |`, `| --- | --- | ${worlds.map(() => "---").join(" | ")} |`, ...rows].join("\n");
};

function caseTable(file) {
  const results = JSON.parse(readFileSync(file, "utf8"));
  const rows = Object.entries(results).map(([id, { title, result }]) => `| ${id} | ${title.replaceAll("|", "\\|")} | ${result} |`);
  return ["| case | what is tried | what came of it |", "| --- | --- | --- |", ...rows].join("\n");
}

// A record of a million entries, written through the real journal and verified; then damaged at random places: each place
// must be found and told, and nothing else. Prints a table, and writes it to docs/results/audit.md with --write.
//
//   node checks/full/audit-million.mjs [--records 1000000] [--each 8] [--write]
//
// `--each` places of every kind; more than eight would be more findings than a verdict holds.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { systemClock } from "@callgate/runtime";
import { createMasterKey, createSqliteJournal } from "@callgate/runtime/journal";
import { memoryBlobs } from "@callgate/testkit";
import { damageRecord, isLocated, writeRecord } from "../../packages/runtime/src/journal/fixtures/damaged-record.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { records: { type: "string", default: "1000000" }, each: { type: "string", default: "8" }, write: { type: "boolean", default: false } } });
const records = Number(values.records);
const folder = mkdtempSync(join(tmpdir(), "callgate-million-"));
const path = join(folder, "journal.db");
const open = () => createSqliteJournal({ path, blobs: memoryBlobs(), masterKey: createMasterKey(new Uint8Array(32).fill(7)), clock: systemClock(), limits: { maxBytes: Number.MAX_SAFE_INTEGER, maxAgeMs: Number.MAX_SAFE_INTEGER } });

/** CPU seconds of this process. */
async function timed(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, cpuSeconds: (user + system) / 1e6 };
}

try {
  let journal = await open();
  const writing = await timed(() => writeRecord(journal, records));
  const restMiB = process.memoryUsage().rss / 2 ** 20;
  let mostMiB = 0;
  const onProgress = () => void (mostMiB = Math.max(mostMiB, process.memoryUsage().rss / 2 ** 20));
  const verifying = await timed(() => journal.audit.verify({ onProgress }));
  const clean = verifying.result;
  await journal.close();
  const database = new DatabaseSync(path);
  const damages = damageRecord(database, Number(values.each));
  database.close();
  journal = await open();
  const { findings, findingCount } = await journal.audit.verify();
  await journal.close();

  const hurt = new Set(damages.map(({ runId }) => runId));
  const others = findings.filter(({ runId }) => runId === undefined || !hurt.has(runId));
  const kinds = [...new Set(damages.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => {
    const ofKind = damages.filter((damage) => damage.kind === kind);
    return [kind, ofKind.length, ofKind.filter((damage) => isLocated(damage, findings)).length];
  });
  const isRight = clean.ok && clean.entries === records && others.length === 0 && rows.every(([, places, located]) => places === located);
  const text = [
    measured(`node checks/full/audit-million.mjs --records ${records}`),
    "",
    `${clean.entries} entries of ${clean.runs} runs (${Math.round(statSync(path).size / 2 ** 20)} MiB) verified: ${clean.ok ? "nothing found" : `${clean.findingCount} findings`}. Verifying took ${(verifying.cpuSeconds / writing.cpuSeconds).toFixed(2)} times the CPU of writing, and ${Math.max(0, Math.round(mostMiB - restMiB))} MiB more memory than there was after writing. Then, at random places:`,
    "",
    markdownTable(["damage", "places", "found and located"], rows),
    "",
    `Findings elsewhere: ${others.length} of ${findingCount}.`,
  ].join("\n");
  console.log(text);
  if (values.write) writeSection({ page: "audit.md", intro: "# What verification finds\n\nA long record is written through the journal, verified, and damaged at random places with the journal closed, by somebody who has no key: one character or bit flipped, a row dropped, two that change places, the end of a run cut off, a run dropped.", section: `SQLite, ${records} entries`, text });
  process.exitCode = isRight ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

// What chaining, redaction and labels cost: a call of a warm gate without any, and with each switched on alone. They take
// turns in one process, so that the ratios hold on a busy machine too; read those. CPU time of the whole process.
//
// Nothing of Callgate can be told not to chain, so the journal is loaded a second time with stamps that are nothing: a hook
// of the module loader puts them in. Rows and seals are written all the same; what is measured is the HMACs.
// `node bench/record.ts`
import { mkdtempSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Redactor } from "@callgate/contract";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import { createGate, systemClock } from "@callgate/runtime";
import { createFileBlobs, createMasterKey, createRedactor, createSqliteJournal } from "@callgate/runtime/journal";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { denyingApprover } from "@callgate/runtime/broker";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { testPolicy } from "@callgate/testkit";
import { printInTurns } from "./in-turns.ts";

const unchained = "?unchained";
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isBelow = specifier.endsWith(unchained) || (context.parentURL?.endsWith(unchained) === true && found.url.includes("/runtime/src/journal/"));
    return isBelow && !found.url.endsWith(unchained) ? { ...found, url: `${found.url}${unchained}` } : found;
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(`/audit-stamps.ts${unchained}`)) return loaded;
    const source = typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
    const plain = source.replace(/const mac = createHmac\(.*$/m, "const mac = nothing;").replace(/hash\("sha256", sealed, "hex"\)/, '"0"');
    if (plain === source || plain.includes('createHmac("') || plain.includes('hash("')) throw new Error("audit-stamps.ts is not as this benchmark knows it");
    return { ...loaded, source: `const nothing = Buffer.alloc(32);\n${plain}` };
  },
});
const plainJournal = (await import(new URL(`../packages/runtime/src/journal/sqlite-journal.ts${unchained}`, import.meta.url).href)) as { readonly createSqliteJournal: typeof createSqliteJournal };

const folder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const masterKey = createMasterKey(new Uint8Array(32).fill(7));
const key = masterKey.derive("redactor");

/** Writes down what it is given; the digest, which replay needs, is made all the same. */
const made = createRedactor({ secrets: [], key, detect: { secret: false, email: false, phone: false, card: false, iban: false } });
const open: Redactor = { ...made, summary: (value) => value as never, whole: (value) => value as never, text: (text) => text, output: (text) => text, record: (value, wire) => ({ digest: made.record(null, wire, []).digest, summary: value as never, clear: wire }) };

const detectorsOnly = createRedactor({ secrets: [], key });
const order = { id: "3f0c9a1b-22d4-4c5e-9a51-0f0de3a1c9d2", at: "2026-11-30T11:45:00Z", note: "ring the bell twice, the door is green", price: 12.5, lines: [{ sku: "A-4711", count: 2 }, { sku: "B-0815", count: 1 }] };
const personal = { ...order, mail: "ann.lee@mail.example", account: "DE89370400440532013000", card: "4111 1111 1111 1111" };

interface Bench {
  readonly chained: boolean;
  readonly redactor: Redactor;
  readonly answer: unknown;
  /** Of the tool: what its answers bring to the run. */
  readonly labels?: readonly string[];
}

const benches: Readonly<Record<string, Bench>> = {
  "neither": { chained: false, redactor: open, answer: order },
  "chain": { chained: true, redactor: open, answer: order },
  "summaries and hashes": { chained: false, redactor: made, answer: order },
  "detectors as well": { chained: false, redactor: detectorsOnly, answer: order },
  "detectors that find something": { chained: false, redactor: detectorsOnly, answer: personal },
  "labels": { chained: false, redactor: open, answer: order, labels: ["private", "untrusted"] },
  "all": { chained: true, redactor: detectorsOnly, answer: order, labels: ["private", "untrusted"] },
};

const input = { type: "object", properties: { n: { type: "number" }, note: { type: "string" } }, required: ["n"] };
async function gateOf(name: string, { chained, redactor, answer, labels = [] }: Bench) {
  const clock = systemClock();
  const blobs = createFileBlobs({ folder: join(folder, name, "blobs") });
  const journal = await (chained ? createSqliteJournal : plainJournal.createSqliteJournal)({ path: join(folder, name, "journal.db"), blobs, masterKey, clock });
  const get = defineTool({ name: "get", description: "bench", effect: "read", labels: [...labels], input, handler: () => answer });
  return await createGate({ sources: [{ source: functionSource({ namespace: "bench", tools: [get] }) }], checkers: [createTypeScriptChecker()], drivers: [createQuickJsDriver({ workers: 1 })], policy: testPolicy(), approver: denyingApprover(), redactor, clock, journal, blobs });
}

const gates = new Map(await Promise.all(Object.entries(benches).map(async ([name, bench]) => [name, await gateOf(name.replaceAll(/\W+/g, "-"), bench)] as const)));

try {
  await printInTurns("CPU ms a call of a program, and its ratio to a call without any", gates, '{ n, note: "order of 2026-11-30, please" }');
} finally {
  for (const gate of gates.values()) await gate.close();
  rmSync(folder, { recursive: true, force: true });
}

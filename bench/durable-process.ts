// Started by bench/durable.ts with its orders as JSON: a process that leaves many runs suspended, one that goes on with
// them, or one that holds a run until it is killed.
import { createSqliteJournal, createFileBlobs, createMasterKey } from "@callgate/runtime/journal";
import { createPostgresJournal } from "@callgate/journal-postgres";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { join } from "node:path";
import { hostClock as clock } from "../packages/runtime/src/journal/fixtures/open-journal.ts";
import { plainChecker } from "../packages/runtime/src/run/fixtures/plain-checker.ts";
import { createTestGate } from "../packages/runtime/src/run/fixtures/test-gate.ts";

interface Orders {
  readonly role: "suspend" | "resume" | "hold";
  readonly folder: string;
  readonly url?: string;
  readonly count: number;
}

const { role, folder, url, count } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const masterKey = createMasterKey(Buffer.alloc(32, 2));
const blobs = createFileBlobs({ folder: join(folder, "blobs") });
const journal = url === undefined ? await createSqliteJournal({ path: join(folder, "journal.db"), blobs, masterKey, clock }) : await createPostgresJournal({ url, masterKey, clock });
let heldId = "";
const tools = [
  { name: "read", handler: (args: unknown) => args },
  {
    name: "hang",
    effect: "write" as const,
    handler: () => {
      // Its intent is on disk by now.
      process.send?.({ kind: "held", runId: heldId });
      return new Promise<never>(() => undefined);
    },
  },
];
const { gate } = await createTestGate(tools, { checkers: [plainChecker()], drivers: [createQuickJsDriver({ workers: 2 })], defaults: { suspendAfterMs: 0, budgetTokens: 10_000 }, wrapJournal: () => journal });

async function suspend(): Promise<void> {
  const runIds: string[] = [];
  for (let from = 0; from < count; from += 50) {
    const results = await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, at) => gate.run(`const a = await tools.t.read({ n: ${from + at} }); const b = await tools.t.read({ n: 2 }); await waitFor("go"); return a.n + b.n;`)));
    for (const { runId, status, error } of results) {
      if (status !== "suspended") throw new Error(`Run ${runId} is ${status}: ${error?.message ?? ""}`);
      runIds.push(runId);
    }
  }
  for (const runId of runIds) await gate.runs.signal(runId, { name: "go" });
}

/** As after a restart: a worker goes on with all that is due. */
async function resume(): Promise<void> {
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  let ended = 0;
  let peakMiB = 0;
  const all = Promise.withResolvers<void>();
  gate.onEvent((event) => {
    if (event.kind !== "run-ended") return;
    peakMiB = Math.max(peakMiB, process.memoryUsage.rss() / 1_048_576);
    if (++ended === count) all.resolve();
  });
  const beforeMiB = process.memoryUsage.rss() / 1_048_576;
  const worker = gate.work({ concurrency: 16 });
  await all.promise;
  const { user, system } = process.cpuUsage(cpu);
  process.send?.({ kind: "resumed", ms: performance.now() - startMs, cpuMs: (user + system) / 1_000, beforeMiB, peakMiB });
  await worker.stop();
}

if (role === "hold") {
  gate.onEvent((event) => {
    if (event.kind === "run-started") heldId = event.runId;
  });
  await gate.run("await tools.t.read({ n: 1 }); await tools.t.hang({}); return 1;");
} else {
  await (role === "suspend" ? suspend() : resume());
  await gate.close();
  process.disconnect?.();
}

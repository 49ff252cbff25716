// What the gate adds to its sandbox, in one process: the driver alone, the gate with a journal that forgets, the gate as
// people get it. The three take turns, so that the ratios hold on a busy machine too; read those. Medians of wall time,
// and beside them CPU time of the whole process (host and sandbox threads), which a busy machine hardly changes.
// `node bench/gate.ts`; with `--only=<part of a name>` one line, with `--long` more rounds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, defineTool } from "callgate";
import { defaultLimits } from "@callgate/contract";
import type { Gate, GuestHost, GuestJob, GuestRun, SandboxDriver, WireValue } from "@callgate/contract";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import { createGate } from "@callgate/runtime";
import { createCedarPolicy } from "@callgate/policy-cedar";
import { denyingApprover } from "@callgate/runtime/broker";
import { createRedactor } from "@callgate/runtime/journal";
import { functionSource } from "@callgate/runtime/source";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { forgetfulJournal } from "./forgetful-journal.ts";
import { median } from "./median.ts";

interface Case {
  readonly name: string;
  /** Body of the program, in terms of `get` and `put`. */
  readonly body: string;
  /** Calls a figure is divided by. */
  readonly per: number;
  readonly times: number;
  /** The driver alone knows no write. */
  readonly writes?: boolean;
}

const cases: readonly Case[] = [
  { name: "warm run", body: "return 1 + 1", per: 1, times: 400 },
  { name: "run with 20 parallel calls", body: "const all = await Promise.all(Array.from({ length: 20 }, (_, n) => get({ n }))); return all.length", per: 1, times: 150 },
  { name: "one of 1,000 sequential calls", body: "let sum = 0; for (let n = 0; n < 1000; n++) sum += (await get({ n })).n; return sum", per: 1_000, times: 9 },
  { name: "one of 1,000 parallel calls", body: "const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => get({ n }))); return all.length", per: 1_000, times: 15 },
  { name: "one of 100 sequential writes", body: "let sum = 0; for (let n = 0; n < 100; n++) sum += (await put({ n })).n; return sum", per: 100, times: 9, writes: true },
];

const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const tools = [
  defineTool({ name: "get", description: "Answers n", input, effect: "read", handler: async ({ n }: { n: number }) => ({ n }) }),
  defineTool({ name: "put", description: "Stores n", input, effect: "write", handler: async ({ n }: { n: number }) => ({ n }) }),
];
const head = "const get = (args) => tools.bench.get(args); const put = (args) => tools.bench.put(args);\n";
const rules = [{ id: "bench", allow: "bench.*" }];

type Run = (body: string) => Promise<void>;

function runIn(gate: Gate): Run {
  return async (body) => {
    const result = await gate.run(head + body, { language: "javascript", limits: { cpuMs: 60_000, calls: 5_000 } });
    if (result.status !== "completed") throw new Error(`${result.status}: ${result.error?.message ?? result.diagnostics[0]?.message ?? ""}`);
  };
}

async function withoutJournal(): Promise<Gate> {
  return await createGate({
    sources: [{ source: functionSource({ namespace: "bench", tools }) }],
    checkers: [createTypeScriptChecker()],
    drivers: [createQuickJsDriver()],
    journal: forgetfulJournal,
    blobs: { put: async () => "sha256:0", get: async () => undefined, delete: async () => undefined },
    policy: createCedarPolicy({ rules }),
    approver: denyingApprover(),
    redactor: createRedactor({ secrets: [], key: new Uint8Array(32) }),
  });
}

/** Every call is answered at once with its own arguments. */
function runOn(driver: SandboxDriver): Run {
  const job = (body: string): GuestJob => ({
    runId: "bench",
    language: "javascript",
    code: `(async ($callgate) => { "use strict";\n${head}${body}\n})`,
    modules: [{ namespace: "bench", tools: ["get", "put"] }],
    modulesDigest: "bench",
    seed: "00112233445566778899aabbccddeeff",
    startMs: 1_700_000_000_000,
    limits: { ...defaultLimits, calls: 5_000 },
  });
  return async (body) => {
    const host: GuestHost = {
      onCalls: (calls) => guest.deliver(calls.map((call) => ({ seq: call.seq, atMs: 1, result: { kind: "value", value: (call as { args: WireValue }).args } }))),
      onOutput: () => undefined,
    };
    const guest: GuestRun = driver.start(job(body), host);
    const end = await guest.ended;
    if (end.kind !== "returned") throw new Error(end.kind);
  };
}


/** Medians in ms: wall of each round, CPU of blocks of rounds (the system counts it coarsely). */
async function measure(run: Run, { body, times, per }: Case): Promise<{ readonly wallMs: number; readonly cpuMs: number }> {
  const walls: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < times; round++) {
    const startMs = performance.now();
    await run(body);
    walls.push(performance.now() - startMs);
  }
  const { user, system } = process.cpuUsage(before);
  return { wallMs: median(walls) / per, cpuMs: (user + system) / 1_000 / times / per };
}

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7) ?? "";
const rounds = process.argv.includes("--long") ? 9 : 3;
const folder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const driver = createQuickJsDriver();
const gates = { plain: await withoutJournal(), journal: await createCallgate({ stateFolder: folder, tools: { bench: tools }, rules }) };
try {
  const columns: readonly (readonly [string, Run])[] = [["driver", runOn(driver)], ["gate", runIn(gates.plain)], ["gate + journal", runIn(gates.journal)]];
  const cell = ({ wallMs, cpuMs }: { wallMs: number; cpuMs: number }): string => `${wallMs.toFixed(3)} (${cpuMs.toFixed(3)})`.padStart(16);
  console.log(`${"ms: wall (CPU)".padEnd(32)}${columns.map(([name]) => name.padStart(16)).join("")}   wall: gate ÷ driver, journal ÷ gate, journal ÷ driver`);
  for (const one of cases.filter(({ name }) => name.includes(only))) {
    for (const [, run] of columns) await measure(run, { ...one, times: Math.ceil(one.times / 3) });
    const found = new Map<string, { wallMs: number; cpuMs: number }[]>(columns.map(([name]) => [name, []]));
    for (let round = 0; round < rounds; round++) for (const [name, run] of columns) found.get(name)?.push(await measure(run, one));
    const all = columns.map(([name]) => ({ wallMs: median((found.get(name) ?? []).map(({ wallMs }) => wallMs)), cpuMs: median((found.get(name) ?? []).map(({ cpuMs }) => cpuMs)) }));
    const [bare, plain, journal] = all.map(({ wallMs }) => wallMs) as [number, number, number];
    console.log(`${one.name.padEnd(32)}${all.map(cell).join("")}   ${(plain / bare).toFixed(1)}, ${(journal / plain).toFixed(2)}, ${(journal / bare).toFixed(1)}`);
  }
} finally {
  await Promise.all([driver.close(), gates.plain.close(), gates.journal.close()]);
  rmSync(folder, { recursive: true, force: true });
}

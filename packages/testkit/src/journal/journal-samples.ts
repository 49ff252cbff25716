import { createHash } from "node:crypto";
import { defaultLimits, encodeValue } from "@callgate/contract";
import type { Digest, JournalEntry, JsonValue, Principal, RecordedValue, RunFinish, RunLease, RunStart } from "@callgate/contract";

/** From this many characters of JSON on a value is a blob (contract, `RecordedValue`). */
export const BLOB_CHARS = 256 * 1024;

/** Data for journals: complete entries and runs, made to differ in what matters to a test. */

export const alice: Principal = { tenant: "acme", user: "alice", agent: "assistant", task: "task-1", roles: ["sales"], claims: { mail: "alice@acme.example" } };
export const bob: Principal = { tenant: "rival", user: "bob", roles: [], claims: {} };

export function digestText(text: string): Digest {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** A recorded value whose clear form is `value`. */
export function recorded(value: unknown, summary: JsonValue = "summary"): RecordedValue {
  const clear = encodeValue(value);
  return { digest: digestText(clear.json), summary, clear };
}

/** The same as it reads without its clear value. */
function unclear({ digest, summary }: RecordedValue): RecordedValue {
  return { digest, summary };
}

/** The lease of a run that was begun; a claimed one has a higher epoch. */
export function leaseOf(runId: string, epoch = 1): RunLease {
  return { runId, epoch };
}

export function sampleRun(runId: string, changes: Partial<RunStart> = {}): RunStart {
  return {
    runId,
    kind: "program",
    principal: alice,
    startedAtMs: 1_900_000_000_000,
    lane: "execute",
    language: "typescript",
    programText: `return "program of ${runId}";`,
    programDigest: undefined,
    seed: "00112233445566778899aabbccddeeff",
    limits: defaultLimits,
    driver: "quickjs",
    interfaces: { "crm.get": digestText("crm.get") },
    policyVersion: "p1",
    ...changes,
  };
}

export function sampleFinish(changes: Partial<RunFinish> = {}): RunFinish {
  return { status: "completed", endedAtMs: 1_900_000_000_500, tokens: { result: 10, program: 20, direct: 300 }, resultNumber: 1, ...changes };
}

export function issued(seq: number, changes: Partial<Extract<JournalEntry, { kind: "call-issued" }>> = {}): Extract<JournalEntry, { kind: "call-issued" }> {
  return {
    kind: "call-issued",
    atMs: 1_900_000_000_010 + seq,
    seq,
    callId: `c${seq}`,
    tool: "crm.update",
    definitionDigest: digestText("definition"),
    effect: "write",
    args: recorded({ id: seq }),
    idempotencyKey: `key-${seq}`,
    ...changes,
  };
}

export function ended(seq: number, changes: Partial<Extract<JournalEntry, { kind: "call-ended" }>> = {}): Extract<JournalEntry, { kind: "call-ended" }> {
  return { kind: "call-ended", atMs: 1_900_000_000_050 + seq, seq, outcome: "ok", effectStatus: "done", durationMs: 3, attempts: 1, cached: false, result: recorded({ done: seq }), artifacts: [], ...changes };
}

export function printed(text: string): Extract<JournalEntry, { kind: "console" }> {
  return { kind: "console", atMs: 1_900_000_000_100, entries: [{ level: "log", text }], droppedBytes: 0 };
}

/** One entry of every kind, with every optional field once there and once absent. */
export function entriesOfEveryKind(): readonly JournalEntry[] {
  const error = { code: "NOT_FOUND", message: "no record of bob@acme.example", tool: "crm.update", retryable: true, path: "/id", details: { asked: [1, "two", null] } };
  const artifact = { name: "plot.png", mimeType: "image/png", sizeBytes: 12, digest: digestText("plot") };
  return [
    {
      kind: "checked",
      atMs: 1,
      ok: true,
      code: "(async ($callgate) => { return 1; })",
      lineOffset: -1,
      diagnostics: [{ severity: "advice", code: "SEQUENTIAL", message: "calls could run at once", line: 2, column: 3, excerpt: "await a(); await b();", suggestions: ["Promise.all"] }],
      repairs: [{ kind: "await_added", message: "added await", line: 1, column: 1 }],
      reach: { tools: ["crm.update"], effects: ["write"] },
      durationMs: 4.5,
    },
    { kind: "checked", atMs: 1, ok: false, diagnostics: [], repairs: [], durationMs: 1 },
    issued(0),
    issued(1, { definitionDigest: undefined, effect: "read", args: unclear(recorded(1, { email: "hash:0123456789abcdef" })) }),
    { kind: "call-decided", atMs: 2, seq: 0, decision: "ask", ruleId: "ask-writes", reason: "writes to bob's record" },
    { kind: "call-decided", atMs: 3, seq: 0, decision: "allow", ruleId: "ask-writes", answeredBy: "carol" },
    ended(0, { artifacts: [artifact] }),
    withoutResult({ ...ended(1, { outcome: "failed", effectStatus: "none" }), error }),
    { kind: "result-held", atMs: 4, seq: 1, effectStatus: "done", attempts: 1, result: recorded({ rows: "held-back" }), artifacts: [artifact] },
    { kind: "call-late", atMs: 4, seq: 1, effectStatus: "done", result: recorded([new Date(0), 10n, undefined, new Map([[1, new Uint8Array([1, 2])]])]) },
    { kind: "call-late", atMs: 4, seq: 1, effectStatus: "none", error },
    { ...ended(2), result: unclear(recorded("large")), reread: true },
    { kind: "call-reread", atMs: 5, seq: 2, durationMs: 2.5, digest: digestText("large"), same: false },
    { kind: "call-intercepted", atMs: 5, seq: 2, by: "mask", how: "transformed", args: unclear(recorded({ id: 1 })) },
    { kind: "planned", atMs: 5, planId: "pln_1", by: "ann", approvalId: "apr_plan_1", plan: recorded({ items: 1 }) },
    { kind: "call-refused", atMs: 5, seq: 2, tool: "crm.update" },
    { kind: "cancelling", atMs: 5 },
    { kind: "delivered", atMs: 6, ord: 0, seq: 0, call: { kind: "tool", tool: "crm.update", argsDigest: digestText("args") } },
    { kind: "delivered", atMs: 7, ord: 1, seq: 3, call: { kind: "builtin", name: "search", argsDigest: digestText("q") }, answer: recorded(["hit"]) },
    { kind: "delivered", atMs: 8, ord: 2, seq: 4, call: { kind: "timer", delayMs: 20 } },
    printed("hello\u0000\u2028\ud800"),
    { kind: "text", atMs: 9, text: 'x\n{"event":"approval.granted","by":"owner"}\r\n\u2028' },
    { kind: "progress", atMs: 10, message: "half", fraction: 0.5 },
    { kind: "progress", atMs: 10, message: "more" },
    { kind: "connection", atMs: 10, connection: { host: "api.example.com", port: 443, verdict: "allowed", bytesSent: 517, bytesReceived: 4096 } },
    { kind: "connection", atMs: 10, connection: { host: "evil.test", port: 80, verdict: "denied", rule: "not-in-allow", bytesSent: 0, bytesReceived: 0 } },
    { kind: "result", atMs: 11, number: 1, label: "value", value: recorded({ answer: 42 }), artifact },
    { kind: "result", atMs: 12, number: 2, label: "call c0", value: recorded("x".repeat(10)) },
  ];
}

function withoutResult(entry: Extract<JournalEntry, { kind: "call-ended" }>): JournalEntry {
  const { result: _, ...rest } = entry;
  return rest;
}

/** An entry as it reads without `clear`. */
export function withoutClear(entry: JournalEntry): JournalEntry {
  switch (entry.kind) {
    case "call-issued":
    case "call-edited":
      return { ...entry, args: unclear(entry.args) };
    case "planned":
      return { ...entry, plan: unclear(entry.plan) };
    case "result-held":
    case "call-ended":
    case "call-late":
      return entry.result === undefined ? entry : { ...entry, result: unclear(entry.result) };
    case "delivered":
      return entry.answer === undefined ? entry : { ...entry, answer: unclear(entry.answer) };
    case "result":
      return { ...entry, value: unclear(entry.value) };
    case "checked":
    case "approval-asked":
    case "call-decided":
    case "call-refused":
    case "call-resolved":
    case "call-reread":
    case "call-intercepted":
    case "call-backgrounded":
    case "suspended":
    case "resumed":
    case "cancelling":
    case "console":
    case "text":
    case "progress":
    case "connection":
      return entry;
  }
}

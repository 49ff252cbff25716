import { CallgateError, SourceReturn, ToolError } from "@callgate/contract";
import type { Effect, EffectStatus, GateEventKind, JournalEntry, OutcomeKind } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import type { PerformedCall } from "./call.ts";
import { ask, deny, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestGateInit, TestTool } from "./fixtures/test-broker.ts";

const effects = ["read", "write", "destructive"] as const;

interface Row {
  readonly name: string;
  readonly tool?: TestTool;
  readonly gate?: Partial<TestGateInit>;
  /** What happens after the call was started. */
  readonly next?: (world: World) => Promise<void>;
  /** Aborts before it starts. */
  readonly aborted?: boolean;
  readonly args?: unknown;
  readonly outcome: OutcomeKind;
  readonly code?: string;
  /** For writes; a read is always `none`. */
  readonly status: EffectStatus;
  readonly ran: number;
  readonly entries: readonly JournalEntry["kind"][];
  readonly events: readonly GateEventKind[];
}

interface World {
  readonly gate: ReturnType<typeof testGate>;
  readonly abort: AbortController;
  readonly work: PromiseWithResolvers<unknown>;
}

const full = ["call-issued", "call-decided", "call-ended"] as const;
const asked = ["call-issued", "call-decided", "approval-asked", "call-decided", "call-ended"] as const;
const ranEvents = ["call-requested", "call-decided", "call-started", "call-ended"] as const;
const askedEvents = ["call-requested", "call-decided", "approval-asked", "approval-answered"] as const;

const timeOut = async ({ gate }: World) => await gate.clock.advance(1000);
const cancel = async ({ gate, abort }: World) => {
  await gate.clock.advance(10);
  abort.abort();
};

/** Each row, for each effect: outcome, effect status, how often the tool ran, what is journalled and told. */
const matrix: readonly Row[] = [
  { name: "ok", outcome: "ok", status: "done", ran: 1, entries: full, events: ranEvents },
  { name: "throws ToolError", tool: { run: thrower(() => new ToolError({ code: "CARD_REFUSED", message: "No" })) }, outcome: "failed", code: "CARD_REFUSED", status: "unknown", ran: 1, entries: full, events: ranEvents },
  { name: "throws ToolError notApplied", tool: { run: thrower(() => new ToolError({ code: "CARD_REFUSED", message: "No", notApplied: true })) }, outcome: "failed", code: "CARD_REFUSED", status: "none", ran: 1, entries: full, events: ranEvents },
  { name: "throws another error", tool: { run: thrower(() => new Error("socket hang up")) }, outcome: "failed", code: "TOOL_FAILED", status: "unknown", ran: 1, entries: full, events: ranEvents },
  { name: "loses its source", tool: { run: thrower(() => new ToolError({ code: "SOURCE_UNAVAILABLE", message: "The peer is gone" })) }, outcome: "failed", code: "SOURCE_UNAVAILABLE", status: "unknown", ran: 1, entries: full, events: ranEvents },
  { name: "times out", tool: { run: hang }, next: timeOut, outcome: "timed_out", code: "TOOL_TIMEOUT", status: "unknown", ran: 1, entries: full, events: ranEvents },
  { name: "is cancelled under way", tool: { run: hang }, next: cancel, outcome: "cancelled", code: "CANCELLED", status: "unknown", ran: 1, entries: full, events: ranEvents },
  { name: "is cancelled before it starts", aborted: true, outcome: "cancelled", code: "CANCELLED", status: "none", ran: 0, entries: ["call-issued", "call-ended"], events: ["call-requested", "call-ended"] },
  { name: "has invalid input", tool: { badInput: () => "must be a number" }, outcome: "invalid_input", code: "INVALID_INPUT", status: "none", ran: 0, entries: ["call-issued", "call-ended"], events: ["call-requested", "call-ended"] },
  { name: "has invalid output", tool: { badOutput: () => "must be a number" }, outcome: "invalid_output", code: "INVALID_OUTPUT", status: "done", ran: 1, entries: full, events: ranEvents },
  { name: "returns what cannot cross", tool: { run: () => () => 1 }, outcome: "invalid_output", code: "VALUE_UNSUPPORTED", status: "done", ran: 1, entries: full, events: ranEvents },
  { name: "is denied", gate: { decide: deny }, outcome: "denied", code: "DENIED", status: "none", ran: 0, entries: full, events: ["call-requested", "call-decided", "call-ended"] },
  { name: "fails its precheck", tool: { precheck: thrower(() => new ToolError({ code: "NO_RECORD", message: "No such record" })) }, gate: { decide: ask }, outcome: "failed", code: "NO_RECORD", status: "none", ran: 0, entries: full, events: ["call-requested", "call-decided", "call-ended"] },
  { name: "asks and is approved", gate: { decide: ask }, outcome: "ok", status: "done", ran: 1, entries: asked, events: [...askedEvents, "call-started", "call-ended"] },
  { name: "asks and is denied", gate: { decide: ask, answer: () => ({ kind: "denied", by: "ann", reason: "too much" }) }, outcome: "denied", code: "DENIED", status: "none", ran: 0, entries: asked, events: [...askedEvents, "call-ended"] },
  { name: "asks where nobody can answer", gate: { decide: ask, answer: () => ({ kind: "unavailable", help: "Add a rule" }) }, outcome: "denied", code: "APPROVAL_UNAVAILABLE", status: "none", ran: 0, entries: asked, events: [...askedEvents, "call-ended"] },
  { name: "has arguments over the limit", args: "x".repeat(5 * 1024 * 1024), outcome: "limit_exceeded", code: "LIMIT_EXCEEDED", status: "none", ran: 0, entries: ["call-issued", "call-ended"], events: ["call-requested", "call-ended"] },
];

function thrower(make: () => Error): () => never {
  return () => {
    throw make();
  };
}

/** Stands for the promise the test holds; replaced when the tool is made. */
function hang(): never {
  throw new Error("replaced");
}

async function play(row: Row, effect: Effect): Promise<{ readonly performed: PerformedCall; readonly ran: number; readonly world: World }> {
  const work = Promise.withResolvers<unknown>();
  let ran = 0;
  const run = row.tool?.run === hang ? () => work.promise : (row.tool?.run ?? (() => ({ id: 7 })));
  const tool = testTool("crm.pay", { ...row.tool, effect, run: (args, context) => { ran += 1; return run(args, context); } });
  const gate = testGate({ tools: [tool], ...row.gate });
  const abort = new AbortController();
  if (row.aborted === true) abort.abort();
  const world = { gate, abort, work };
  const performing = gate.call("crm.pay", row.args ?? { amount: 5 }, { signal: abort.signal });
  await row.next?.(world);
  const performed = await performing;
  return { performed, ran, world };
}

describe("createBroker", () => {
  describe.each(effects)("for a %s", (effect) => {
    test.each(matrix)("a call that $name", async (row) => {
      const { performed, ran, world } = await play(row, effect);
      const { outcome } = performed;
      const status = effect === "read" ? "none" : row.status;
      expect([outcome.kind, outcome.effectStatus, ran]).toEqual([row.outcome, status, row.ran]);
      expect(performed.effect).toBe(effect);
      if (outcome.kind === "ok") expect(outcome.value).toEqual({ id: 7 });
      else expect(outcome.error).toMatchObject({ code: row.code, tool: "crm.pay" });
      expect(world.gate.entries().map(({ kind }) => kind)).toEqual(row.entries);
      expect(world.gate.eventKinds()).toEqual(row.events);
      const ended = world.gate.entries().at(-1);
      expect(ended).toMatchObject({ outcome: row.outcome, effectStatus: status });
      expect(world.gate.clock.pendingTimers).toBe(0);
    });

    test("a call that times out and resolves late is journalled as late, settles its effect, and is not delivered", async () => {
      const row = matrix.find(({ name }) => name === "times out");
      if (row === undefined) throw new Error("no such row");
      const { performed, world } = await play(row, effect);
      world.work.resolve({ id: 7 });
      await world.gate.clock.advance(0);
      const status = effect === "read" ? "none" : "done";
      expect(performed.outcome.kind).toBe("timed_out");
      expect(world.gate.entries().map(({ kind }) => kind)).toEqual([...full, "call-late"]);
      expect(world.gate.entries().at(-1)).toMatchObject({ kind: "call-late", effectStatus: status, result: { summary: { id: 7 } } });
      expect(world.gate.eventKinds()).toEqual([...ranEvents, "call-late"]);
    });

    test.each([
      ["and says nothing was applied", true, "none"],
      ["and says nothing about it", false, "unknown"],
    ] as const)("a call that is cancelled and rejects late %s", async (_name, notApplied, expected) => {
      const row = matrix.find(({ name }) => name === "is cancelled under way");
      if (row === undefined) throw new Error("no such row");
      const { world } = await play(row, effect);
      world.work.reject(new ToolError({ code: "GONE", message: "Gone", notApplied }));
      await world.gate.clock.advance(0);
      expect(world.gate.entries().at(-1)).toMatchObject({ kind: "call-late", effectStatus: effect === "read" ? "none" : expected, error: { code: "GONE" } });
    });
  });

  test("records the intent of a write in full before the tool runs, and of a read with its outcome", async () => {
    for (const effect of effects) {
      let rowsAtRun = -1;
      const gate = testGate({ tools: [testTool("crm.pay", { effect, run: () => { rowsAtRun = gate.journal.rows.length; return 1; } })] });
      await gate.call("crm.pay");
      expect(rowsAtRun).toBe(effect === "read" ? 0 : 2);
      expect(gate.journal.rows.map(({ durability }) => durability)).toEqual(effect === "read" ? ["later", "later", "later"] : ["full", "full", "lazy"]);
    }
  });

  test("does not perform a write whose intent cannot be journalled", async () => {
    let ran = 0;
    const gate = testGate({ tools: [testTool("crm.pay", { run: () => (ran += 1) })] });
    gate.journal.fail = () => true;
    const performed = await gate.call("crm.pay");
    expect([ran, performed.outcome.kind, performed.outcome.effectStatus]).toEqual([0, "failed", "none"]);
    expect(errorOf(performed).message).toContain("was not called: its intent could not be written to the journal (disk full). Nothing was changed");
  });

  test.each([
    ["JOURNAL_LOCKED", "process 4711 keeps the journal locked for longer than is waited. Nothing was changed. Try again later; where that process hangs, a person has to end it.", true],
    ["JOURNAL_UNAVAILABLE", "the journal cannot be written: its disk is full, read-only, damaged or gone. Nothing was changed. A person has to see to it (callgate doctor says more); try again then.", true],
    ["RUN_FENCED", "another process has taken this run over. Nothing was changed. The run goes on there.", false],
  ] as const)("a journal that refuses an intent is told as %s, with what to do and no path, and the write did not happen", async (code, text, retryable) => {
    let ran = 0;
    const gate = testGate({ tools: [testTool("crm.pay", { run: () => (ran += 1) })] });
    const refuse = () => Promise.reject(new CallgateError(code, "/home/ann/journal.db: secret place", { details: { pid: 4711 } }));
    gate.journal.append = refuse;
    const performed = await gate.call("crm.pay");
    expect([ran, performed.outcome.kind, performed.outcome.effectStatus]).toEqual([0, "failed", "none"]);
    expect(errorOf(performed)).toMatchObject({ code, retryable, message: `crm.pay was not called: a write is written down before it is made, and ${text}` });
    expect(JSON.stringify([performed, await performed.recorded])).not.toContain("/home/ann");
  });

  test("a journal that refuses to take the key of a write is told by its code", async () => {
    const gate = testGate({ tools: [testTool("crm.pay", { businessKey: () => "k" })] });
    gate.journal.reserveEffect = () => Promise.reject(new CallgateError("JOURNAL_LOCKED", "locked"));
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "JOURNAL_LOCKED", retryable: true, message: "The call of crm.pay could not go on, because another process keeps the journal locked for longer than is waited. Nothing was changed. Try again later; where that process hangs, a person has to end it." } });
  });

  test("records a write that was not performed, once the journal works again", async () => {
    const gate = testGate({ tools: [testTool("crm.pay")] });
    let failures = 1;
    gate.journal.fail = () => failures-- > 0;
    expect((await gate.call("crm.pay")).outcome).toMatchObject({ kind: "failed", effectStatus: "none" });
    expect(gate.entries().map(({ kind }) => kind)).toEqual(full);
  });

  test("tells the truth when only the outcome cannot be journalled", async () => {
    const gate = testGate({ tools: [testTool("crm.pay", { run: () => 7 })] });
    gate.journal.fail = (entries) => entries.some(({ kind }) => kind === "call-ended");
    const { outcome, recorded } = await gate.call("crm.pay");
    expect(outcome).toMatchObject({ kind: "ok", effectStatus: "done", value: 7 });
    expect(await recorded).toEqual(["The outcome of crm.pay could not be written to the journal: disk full"]);
    expect(gate.eventKinds()).toContain("journal-degraded");
  });

  test("performs a read though the journal is gone, and says so", async () => {
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read", run: () => 7 })] });
    gate.journal.fail = () => true;
    const { outcome, recorded } = await gate.call("crm.get");
    expect([outcome.kind, (await recorded)?.length]).toEqual(["ok", 1]);
  });

  test("keeps the files of a SourceReturn, and takes a tool's own { value, artifacts } for what it is", async () => {
    const file = { name: "../a/b.png", mimeType: "image/png", bytes: new Uint8Array([1, 2]) };
    const gate = testGate({ tools: [testTool("a.files", { run: () => new SourceReturn("see", [file]) }), testTool("a.own", { run: () => ({ value: 1, artifacts: [] }) })] });
    expect((await gate.call("a.files")).outcome).toMatchObject({ kind: "ok", value: "see", artifacts: [{ name: "b.png", mimeType: "image/png", sizeBytes: 2 }] });
    expect(gate.blobs.kept.size).toBe(1);
    expect((await gate.call("a.own")).outcome).toMatchObject({ kind: "ok", value: { value: 1, artifacts: [] }, artifacts: [] });
  });
});

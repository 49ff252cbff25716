import { BackgroundJob, encodeValue, localPrincipal } from "@callgate/contract";
import type { AnswerSigner, ApprovalRules, ApproverKey, RunSignal } from "@callgate/contract";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createApproverKey, readApproverKey, unlockApproverKey } from "../approval/approver-key.ts";
import { signWord } from "../approval/word-digest.ts";
import { digestOfWire } from "../lib/digest.ts";
import { durableWorld, until } from "./fixtures/durable-world.ts";

let worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()));
  worlds = [];
});

let keys: readonly ApproverKey[] = [];
let signer: AnswerSigner;
let stranger: AnswerSigner;
beforeAll(async () => {
  const [own, other] = await Promise.all(["ann", "ann"].map((by) => createApproverKey({ by, passphrase: "correct horse battery" })));
  if (own === undefined || other === undefined) throw new Error("no keys");
  const [key, mine, others] = [readApproverKey(own), await unlockApproverKey(own, "correct horse battery"), await unlockApproverKey(other, "correct horse battery")];
  if (key === undefined || mine === undefined || others === undefined) throw new Error("no keys");
  [keys, signer, stranger] = [[key], mine, others];
}, 60_000);

/** A write that hangs until its process is lost, and a job whose end is told. */
function world() {
  const performed: string[] = [];
  const made = durableWorld([
    { name: "pay", effect: "write", handler: () => { performed.push("pay"); return new Promise(() => undefined); } },
    { name: "build", effect: "write", handler: () => { performed.push("build"); return new BackgroundJob({ id: 5 }); } },
  ]);
  worlds.push(made);
  const inject = (runId: string, signal: RunSignal): void => void made.journal.runs.get(runId)?.signals.push(signal);
  return {
    ...made, performed, inject,
    gate: async (rules: ApprovalRules) => await made.open({ approvals: rules, defaults: { suspendAfterMs: 0, settleGraceMs: 1 } }),
    /** A run whose write is in doubt. */
    async doubt(rules: ApprovalRules) {
      const first = await made.open({ approvals: rules, defaults: { settleGraceMs: 1 } });
      const before = performed.length;
      first.run("try { return await tools.t.pay({}) } catch (error) { return error.code }").catch(() => undefined);
      await until(() => performed.length > before);
      const runId = [...made.journal.runs.keys()].at(-1) ?? "";
      made.lose(runId);
      const gate = await this.gate(rules);
      const waits = (await gate.runs.resume(runId)).waits;
      return { gate, runId, callId: `${runId}.0`, waits };
    },
  };
}

const value = (of: unknown) => ({ digest: digestOfWire(encodeValue(of)), summary: null, clear: encodeValue(of) });
const happened = (callId: string, attempt = 0): RunSignal => ({ kind: "resolution", callId, attempt, happened: true, output: value("forged"), by: "ann", atMs: 1 });

describe("what became of a write", () => {
  test("without keys it is said as ever; with keys nobody is heard without the right one, and the right one is", async () => {
    const open = await world().doubt({});
    await open.gate.runs.resolve(open.callId, { happened: true, output: 1 });
    expect(await open.gate.runs.resume(open.runId)).toMatchObject({ status: "completed", value: { value: 1 } });
    const made = world();
    const { gate, runId, callId } = await made.doubt({ keys });
    await expect(gate.runs.resolve(callId, { happened: true })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("it is not signed") as string });
    await expect(gate.runs.resolve(callId, { happened: true }, { signer: stranger })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("a key that this gate does not know") as string });
    expect(made.journal.runs.get(runId)?.signals).toEqual([]);
    await gate.runs.resolve(callId, { happened: true, output: 2 }, { signer });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 2 } });
    expect(made.entries(runId)).toContainEqual(expect.objectContaining({ kind: "call-resolved", effectStatus: "done", how: "person", by: "ann" }));
    expect(made.performed).toEqual(["pay"]);
  });

  test.each<[string, (callId: string) => RunSignal]>([
    ["unsigned", (callId) => happened(callId)],
    ["of a stranger's key", (callId) => signWord({ kind: "resolution", callId, attempt: 0, happened: false, atMs: 1 }, stranger)],
    ["signed for the other word", (callId) => ({ ...signWord({ kind: "resolution", callId, attempt: 0, happened: true, atMs: 1 }, signer), happened: false }) as RunSignal],
    ["signed for another call", (callId) => ({ ...signWord({ kind: "resolution", callId: "run_1.0", attempt: 0, happened: true, atMs: 1 }, signer), callId }) as RunSignal],
    ["signed for another doubt", (callId) => ({ ...signWord({ kind: "resolution", callId, attempt: 1, happened: true, atMs: 1 }, signer), attempt: 0 }) as RunSignal],
    ["with another value than it was signed with", (callId) => ({ ...signWord({ kind: "resolution", callId, attempt: 0, happened: true, output: value(1), atMs: 1 }, signer), output: { ...value(1), clear: encodeValue(2) } }) as RunSignal],
  ])("a row in the journal that is %s settles nothing and repeats nothing; it is on record, and a person can still say it", async (_what, forged) => {
    const made = world();
    const { gate, runId, callId } = await made.doubt({ keys });
    made.inject(runId, forged(callId));
    await expect(gate.runs.resolve(callId, { happened: true }, { signer })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("does not count") as string });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "suspended", waits: [{ kind: "resolution", callId, attempt: 1 }] });
    expect(made.entries(runId)).toContainEqual(expect.objectContaining({ kind: "call-resolved", effectStatus: "unknown", how: "refused", by: "ann" }));
    expect(made.performed).toEqual(["pay"]);
    await gate.runs.resolve(callId, { happened: true, output: "true" }, { signer });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: "true" } });
    expect(made.performed).toEqual(["pay"]);
  });

  test("a forged one does not settle the write of a run that is cancelled; a signed one does", async () => {
    for (const isSigned of [false, true]) {
      const made = world();
      const { gate, runId, callId } = await made.doubt({ keys });
      made.inject(runId, isSigned ? signWord({ kind: "resolution", callId, attempt: 0, happened: false, atMs: 1 }, signer) : { kind: "resolution", callId, attempt: 0, happened: false, by: "ann", atMs: 1 });
      const { effects } = await gate.runs.cancel(runId);
      expect([isSigned, effects?.unknown.length]).toEqual([isSigned, isSigned ? 0 : 1]);
    }
  });
});

describe("the end of a background job", () => {
  const program = "try { return await tools.t.build({}) } catch (error) { return error.code + ' ' + error.message }";

  test("is told with the signature of a person, or of the host's own signer; a cancel needs none", async () => {
    const made = world();
    const gate = await made.gate({ keys });
    const { runId } = await gate.run(program);
    await expect(gate.runs.complete(`${runId}.0`, { kind: "value", value: 1 })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("it is not signed") as string });
    await expect(gate.runs.complete(`${runId}.0`, { kind: "value", value: 1 }, { signer: stranger })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
    await gate.runs.complete(`${runId}.0`, { kind: "value", value: 1 }, { signer });
    expect(await gate.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: 1 } });
    const host = await made.gate({ keys, signer });
    const other = await host.run(program);
    await host.runs.complete(`${other.runId}.0`, { kind: "error", code: "NO_ROOM", message: "the disk is full" });
    expect(made.journal.runs.get(other.runId)?.signals).toMatchObject([{ kind: "job", by: "ann", signature: { keyId: keys[0]?.keyId } }]);
    expect(await gate.runs.resume(other.runId)).toMatchObject({ status: "completed", value: { value: expect.stringContaining("NO_ROOM the disk is full") as string } });
    const third = await gate.run(program);
    expect(await gate.jobs.cancel(`${third.runId}.0`)).toEqual({ known: false });
    expect(await gate.runs.resume(third.runId)).toMatchObject({ value: { value: expect.stringContaining("CANCELLED") as string } });
  });

  test.each<[string, (callId: string) => RunSignal]>([
    ["unsigned", (callId) => ({ kind: "job", callId, result: { kind: "value", value: value("forged") }, by: localPrincipal.user, atMs: 1 })],
    ["of a stranger's key", (callId) => signWord({ kind: "job", callId, result: { kind: "value", value: value("forged") }, atMs: 1 }, stranger)],
    ["signed for another result", (callId) => ({ ...signWord({ kind: "job", callId, result: { kind: "value", value: value(1) }, atMs: 1 }, signer), result: { kind: "value", value: value("forged") } }) as RunSignal],
    ["signed for another message", (callId) => ({ ...signWord({ kind: "job", callId, result: { kind: "error", error: { code: "X", message: "a", tool: "", retryable: false } }, atMs: 1 }, signer), result: { kind: "error", error: { code: "X", message: "forged", tool: "", retryable: false } } }) as RunSignal],
  ])("a row in the journal that is %s ends the call as failed, its effect unknown, and gives the program nothing of it", async (_what, forged) => {
    const made = world();
    const gate = await made.gate({ keys });
    const { runId } = await gate.run(program);
    made.inject(runId, forged(`${runId}.0`));
    await expect(gate.runs.complete(`${runId}.0`, { kind: "value", value: 1 }, { signer })).rejects.toMatchObject({ code: "SIGNAL_REFUSED", message: expect.stringContaining("does not count") as string });
    const run = await gate.runs.resume(runId);
    expect(run).toMatchObject({ status: "completed", value: { value: expect.stringMatching(/^JOB_END_REFUSED .*in the name of .* does not count/) as string } });
    expect(JSON.stringify(made.entries(runId))).not.toContain("forged");
    expect(made.entries(runId)).toContainEqual(expect.objectContaining({ kind: "call-ended", outcome: "failed", effectStatus: "unknown" }));
  });
});

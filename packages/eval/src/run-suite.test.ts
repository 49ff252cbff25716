import type { JsonValue } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { agentGate } from "../../agent/src/fixtures/agent-gate.ts";
import { emptySubject, noUsage } from "./attempt/subject.ts";
import type { Subject } from "./attempt/subject.ts";
import { scriptedSubject } from "./attempt/agent-subject.ts";
import { proveSuite } from "./prove-suite.ts";
import { runSuite } from "./run-suite.ts";
import type { EvalEnvironment, EvalWorld } from "./environment.ts";
import type { EvalCase, EvalSuite } from "./suite/eval-suite.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate[Symbol.asyncDispose]();
});

/** A drawer that notes are put into, with a shredder beside it. */
async function drawer(start: JsonValue[] = [], denies: readonly string[] = []): Promise<EvalWorld> {
  const notes = [...start];
  const write = (name: string, effect: "write" | "destructive" | "read", handler: (args: unknown) => unknown) => defineTool({ name, description: `Does ${name}.`, effect, input: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false }, handler: (args) => handler(args) });
  const world = await agentGate({ t: [
    write("put", "write", (args) => notes.push((args as { readonly text: string }).text)),
    write("shred", "destructive", () => void notes.splice(0)),
    write("lose", "write", (args) => { notes.push((args as { readonly text: string }).text); throw new Error("connection lost"); }),
    write("look", "read", () => notes.length),
  ] }, { verdict: (tool) => (denies.includes(tool) ? "deny" : "allow") });
  open.push(world);
  return { gate: world.gate, state: () => notes };
}

const base: EvalCase = { id: "a", kind: "normal-flow", tags: [], task: "Put in a note", given: {}, submissions: 1, mustFail: [], effects: { allowed: ["t.put"], forbidden: ["t.shred"] }, calls: [], state: [{ path: "", equals: ["hello"] }], answer: { includes: [], excludes: [] }, budgets: {} };
const put = { calls: [{ tool: "t.put", input: { text: "hello" } }] };
const suiteOf = (cases: readonly EvalCase[], environment: EvalEnvironment = () => drawer()): EvalSuite => ({ name: "s", environment, mode: "tools", cases });
const openGate = (): never => { throw new Error("not asked for"); };
const run = async (one: Partial<EvalCase>, more: { readonly subject?: Subject; readonly repeat?: number; readonly environment?: EvalEnvironment } = {}) => {
  const { environment, subject = scriptedSubject(), ...options } = more;
  const { cases } = await runSuite({ suite: suiteOf([{ ...base, ...one }], environment), subject, openGate, ...options });
  const [found] = cases;
  if (found === undefined) throw new Error("no case");
  return { ...found, messages: found.attempts.flatMap(({ failures }) => failures.map(({ message }) => message)) };
};

describe("runSuite", () => {
  test("the work is done and the state is as wanted: passed, with digests, calls and what was used", async () => {
    const { status, attempts } = await run({ work: { script: [put, "done"] } });
    expect(status).toBe("passed");
    expect(attempts).toMatchObject([{ status: "passed", answer: "done", calls: [{ tool: "t.put", outcome: "ok", effectStatus: "done" }], usage: { turns: 2, toolCalls: 1 } }]);
    expect(attempts[0]?.beforeDigest).not.toBe(attempts[0]?.afterDigest);
  });

  test("who says that it is done and did not do it has failed", async () => {
    const liar: Subject = { name: "liar", perform: () => Promise.resolve({ answer: "I put the note in and shredded nothing.", usage: noUsage }) };
    expect(await run({}, { subject: liar })).toMatchObject({ status: "failed", messages: ["the state is [], not [\"hello\"]"] });
  });

  test("a forbidden effect is seen in the journal, though the state shows nothing of it and the subject says nothing", async () => {
    const secret: Subject = { name: "secret", async perform({ gate, principal }) {
      await gate.call("t.shred", {}, { principal });
      await gate.run("await tools.t.put({ text: 'hello' })", { principal });
      return { answer: "I only put in the note.", usage: noUsage };
    } };
    expect(await run({}, { subject: secret })).toMatchObject({ status: "failed", messages: [expect.stringMatching(/^t\.shred is forbidden and was reached \(run_\w+\.0, effect done\)$/) as string] });
  });

  test("an effect that may have happened counts as one", async () => {
    expect(await run({ work: { script: [{ calls: [{ tool: "t.lose", input: { text: "hello" } }] }, "It failed."] } })).toMatchObject({ status: "failed", messages: [expect.stringContaining("its effect is unknown") as string] });
  });

  test("a call that was refused, wrong, or of no tool has not reached anything", async () => {
    const environment: EvalEnvironment = () => drawer([], ["t.shred"]);
    const script = [{ calls: [{ tool: "t.shred" }, { tool: "t.shred", input: { other: 1 } }, { tool: "t.nothing" }] }, put, "done"];
    expect(await run({ work: { script } }, { environment })).toMatchObject({ status: "passed" });
  });

  test("a case that passes when nothing is done is refused, and so is one that names a tool that is not there", async () => {
    expect(await run({ state: [{ path: "", count: 0 }] })).toMatchObject({ status: "refused", reason: expect.stringContaining("passes when nothing is done") as string });
    expect(await run({ effects: { allowed: ["t.putt"], forbidden: [] } })).toMatchObject({ status: "refused", reason: 'the pattern "t.putt" matches no tool of the environment' });
    expect(await run({ effects: { allowed: ["put"], forbidden: [] } })).toMatchObject({ status: "refused", reason: expect.stringContaining("can match no tool") as string });
  });

  test("what is skipped is not tried and not passed; what cannot be tried is not judged", async () => {
    expect(await run({ skip: "no printer", work: { script: [put, "done"] } })).toMatchObject({ status: "skipped", reason: "no printer", attempts: [] });
    expect(await run({})).toMatchObject({ status: "error", reason: expect.stringContaining("--subject model") as string });
    expect(await run({ work: { script: [put] } })).toMatchObject({ status: "error", reason: expect.stringContaining("script of the model is over") as string });
    expect(await run({ work: { script: [put, "done"] } }, { environment: () => Promise.reject(new Error("no database")) })).toMatchObject({ status: "error", reason: "the environment: no database" });
    expect(await run({ work: { program: "return await tools.t.missing({})" } })).toMatchObject({ status: "error", reason: expect.stringContaining("the program was refused") as string });
  });

  test("an environment that is not fresh spoils the attempts that began elsewhere", async () => {
    let opened = 0;
    const environment: EvalEnvironment = () => drawer(Array.from({ length: opened++ }, () => "left over"));
    expect(await run({ work: { script: [put, "done"] } }, { environment, repeat: 2 })).toMatchObject({ status: "error", reason: expect.stringContaining("not fresh") as string });
  });

  test("some attempts pass and some do not: flaky; budgets are held, and submissions are one piece of work", async () => {
    let tries = 0;
    const shaky: Subject = { name: "shaky", async perform({ gate, principal }) {
      if ((tries += 1) % 2 === 1) await gate.call("t.put", { text: "hello" }, { principal });
      return { answer: "", usage: noUsage };
    } };
    expect(await run({}, { subject: shaky, repeat: 2 })).toMatchObject({ status: "flaky" });
    expect(await run({ work: { script: [put, put, put, "done"] }, budgets: { turns: 1 } })).toMatchObject({ status: "failed", messages: [expect.stringContaining("over budget: turns") as string] });
    expect(await run({ work: { script: [put, "done"] }, submissions: 3, calls: [{ tool: "t.put", times: 3 }] })).toMatchObject({ status: "passed" });
  });
});

describe("an environment that this machine cannot have", () => {
  const missing: EvalEnvironment = () => ({ missing: "needs a telescope" });

  test("skips its cases with the reason: they are in no rate", async () => {
    const report = await runSuite({ suite: suiteOf([{ ...base, work: { script: [put, "done"] } }], missing), subject: scriptedSubject(), openGate, repeat: 2 });
    expect(report.cases).toMatchObject([{ status: "skipped", reason: "needs a telescope" }]);
    expect(report.all).toMatchObject({ cases: 1, skipped: 1, passed: 0, broken: 0, tries: 0 });
  });

  test("proves nothing, and says so", async () => {
    expect(await proveSuite({ suite: suiteOf([{ ...base, mustFail: [{ script: ["Done!"] }] }], missing), openGate })).toEqual([{ id: "a", holds: false, missing: "needs a telescope", problems: [], tried: 0, caughtBy: [] }]);
  });
});

describe("proveSuite", () => {
  const prove = async (one: Partial<EvalCase>, environment?: EvalEnvironment) => (await proveSuite({ suite: suiteOf([{ ...base, ...one }], environment), openGate }))[0];

  test("a case holds where doing nothing fails and each work that must fail does", async () => {
    expect(await prove({ skip: "also then", mustFail: [{ script: ["Done!"] }, { script: [put, { calls: [{ tool: "t.shred" }] }, put, "done"] }] })).toEqual({ id: "a", holds: true, problems: [], tried: 2, caughtBy: ["state", "effects"] });
  });

  test("it does not where a wrong work passes, where it asks for nothing, or where the world moves by itself", async () => {
    expect(await prove({ mustFail: [{ script: [put, "done"] }] })).toMatchObject({ holds: false, problems: ["mustFail 1 passes: no check sees what is wrong with it"] });
    expect(await prove({ state: [{ path: "", count: 0 }] })).toMatchObject({ holds: false, problems: [expect.stringContaining("passes when nothing is done") as string] });
    let asked = 0;
    const moving: EvalEnvironment = async () => ({ ...(await drawer()), state: () => (asked += 1) });
    expect(await prove({}, moving)).toMatchObject({ holds: false, problems: [expect.stringContaining("changes by itself") as string] });
  });

  test("doing nothing is what the empty subject does", async () => {
    expect(await run({}, { subject: emptySubject })).toMatchObject({ status: "failed" });
  });
});

import { CallgateError } from "@callgate/contract";
import type { Workflow } from "@callgate/contract";
import { createWorkflowSource } from "@callgate/runtime/workflow";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { durableWorld, sleepMs, until } from "../../../runtime/src/run/fixtures/durable-world.ts";
import { testSource } from "../../../runtime/src/run/fixtures/test-source.ts";
import type { TestTool } from "../../../runtime/src/run/fixtures/test-source.ts";

/** A write that hangs where it is told to, as if its process were lost there. */
const wrote: string[] = [];
const hanging = { at: 0 };
const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
const tools: readonly TestTool[] = [{ name: "step", effect: "write", input: number, output: number, handler: async (args: unknown) => { const { n } = args as { n: number }; while (hanging.at === n) await sleepMs(2); wrote.push(`step ${n}`); return { n }; } }];

let world = durableWorld(tools);
beforeEach(() => void (world = durableWorld(tools)));
afterEach(async () => {
  await world.close();
  wrote.length = 0;
  hanging.at = 0;
});

/** Each is a process with the workflow `two`, which makes two writes. */
async function open() {
  const [step] = (await world.open()).describe(["t.step"]);
  if (step === undefined) throw new Error("no tool");
  const { interfaceDigest, definitionDigest } = step;
  const two: Workflow = {
    manifest: { format: 1, name: "two", version: "1.0.0", description: "Two steps", language: "javascript", input: number, output: true, effect: "write", tools: { "t.step": { effect: "write", interfaceDigest, definitionDigest, args: number } } },
    program: "await tools.t.step({ n: inputs.n }); const { n } = await tools.t.step({ n: inputs.n + 1 }); return n;\n",
    recordings: [],
    digest: "sha256:00",
  };
  const source = createWorkflowSource({ workflows: [two], problems: [] });
  const gate = await world.open({ sources: [testSource(tools), { source }] });
  source.attach(gate);
  await gate.ready();
  return gate;
}

const runsOf = () => [...world.journal.runs.values()];
const nestedRun = () => runsOf().findLast(({ start }) => start.parent !== undefined)?.start.runId ?? "";

describe("a workflow whose process is lost in the middle", () => {
  async function lostAt(n: number): Promise<{ readonly outer: string; readonly nested: string }> {
    const gate = await open();
    hanging.at = n;
    gate.run("return await tools.workflows.two({ n: 1 });").catch(() => undefined);
    await until(() => nestedRun() !== "" && world.entries(nestedRun()).some((entry) => entry.kind === "call-decided" && entry.seq === n - 1));
    const nested = nestedRun();
    const outer = runsOf().find(({ start }) => start.runId === runsOf().find((run) => run.start.runId === nested)?.start.parent?.runId)?.start.runId ?? "";
    // Of the process that is lost nothing is written any more.
    world.journal.before = (_what, { runId, epoch }) => {
      if (epoch === 1 && (runId === nested || runId === outer)) throw new CallgateError("RUN_FENCED", "the process is lost");
    };
    world.lose(nested);
    world.lose(outer);
    hanging.at = 0;
    return { outer, nested };
  }

  test("its run goes on where its record ends: what was in doubt is asked about once, the rest is done once, and its caller gets the answer", async () => {
    const { outer, nested } = await lostAt(2);
    const second = await open();
    expect(await second.runs.resume(outer)).toMatchObject({ status: "suspended", waits: [{ kind: "job", tool: "workflows.two" }] });
    const worker = second.work({ concurrency: 2 });
    await until(() => world.journal.runs.get(nested)?.status === "suspended");
    expect((await second.runs.list({ status: "suspended" })).find(({ runId }) => runId === nested)?.waits).toMatchObject([{ kind: "resolution", tool: "t.step" }]);
    await second.runs.resolve(`${nested}.1`, { happened: false });
    await until(() => world.journal.runs.get(outer)?.status === "completed");
    await worker.stop();
    expect(await second.runs.resume(outer)).toMatchObject({ value: { value: 2 } });
    expect(wrote.filter((line) => line === "step 1")).toEqual(["step 1"]);
    expect(runsOf().filter(({ start }) => start.parent !== undefined)).toHaveLength(1);
  });

  test("its run is found however many have begun since", async () => {
    const { outer, nested } = await lostAt(2);
    const second = await open();
    const [model] = runsOf();
    if (model === undefined) throw new Error("no run");
    for (let index = 0; index < 1_100; index += 1) world.journal.runs.set(`run_later${index}`, { ...model, status: "completed", start: { ...model.start, runId: `run_later${index}`, startedAtMs: Date.now() + 1_000 } });
    const worker = second.work({ concurrency: 2 });
    await until(() => world.journal.runs.get(nested)?.status === "suspended");
    await second.runs.resolve(`${nested}.1`, { happened: true, output: { n: 2 } });
    await until(() => world.journal.runs.get(outer)?.status === "completed");
    await worker.stop();
    expect(await second.runs.resume(outer)).toMatchObject({ value: { value: 2 } });
    expect(await second.runs.ofCall(`${outer}.0`)).toMatchObject([{ runId: nested }]);
  });

  test("one that was lost before its run had begun did not happen, and is called", async () => {
    const { outer, nested } = await lostAt(1);
    world.journal.runs.delete(nested);
    const second = await open();
    expect(await second.runs.resume(outer, { suspendAfterMs: Infinity })).toMatchObject({ status: "completed", value: { value: 2 } });
  });
});

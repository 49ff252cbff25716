import { setImmediate as tick, setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@callgate/runtime";
import { defineTool } from "@callgate/runtime/source";
import { virtualClock } from "@callgate/testkit";
import { expect, test } from "vitest";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentResult } from "./agent-result.ts";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import { assertAnswered } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedTurn } from "./model/scripted-model.ts";

// How long an abort takes is counted on the agent's own clock, which moves only when this test moves it: by at most 500 ms.
// How long the machine takes for its part does not count, however slow it is.
const budgetMs = 500;

const never = (): Promise<never> => new Promise<never>(() => undefined);

interface World {
  readonly turns: readonly ScriptedTurn[];
  readonly options?: Partial<AgentOptions>;
}

const busy: ScriptedTurn = { error: Object.assign(new Error("busy"), { isRetryable: true }) };

test.each<[string, World]>([
  ["a tool that hears nothing of it", { turns: [{ calls: [{ tool: "t.deaf" }, { tool: "t.quick" }] }] }],
  ["a program whose tool hears nothing of it", { turns: [{ calls: [{ tool: "execute_code", input: { code: "return await tools.t.deaf({})" } }] }], options: { mode: "code" } }],
  ["a program without an end", { turns: [{ calls: [{ tool: "execute_code", input: { code: "await tools.t.begin({}); for (;;) {}" } }] }], options: { mode: "code" } }],
  ["a question that nobody answers", { turns: [{ calls: [{ tool: "t.begin" }, { tool: "ask_user", input: { question: "Well?" } }] }], options: { askUser: never } }],
  ["the pause before the model is asked again", { turns: [{ calls: [{ tool: "t.begin" }] }, busy, busy, "done"], options: { limits: { retryMs: 60_000 } } }],
])("agent-and-executor 21: within 500 ms of its clock an abort ends %s", { timeout: 120_000 }, async (_name, { turns, options }) => {
  const clock = virtualClock();
  const begun = Promise.withResolvers<void>();
  const tool = (name: string, handler: () => unknown) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: true, timeoutMs: 3_600_000, handler });
  // The gate's own time is the machine's: its engine and its journal are not what is measured.
  await using world = await agentGate({ t: [tool("deaf", () => (begun.resolve(), never())), tool("begin", () => begun.resolve()), tool("quick", () => 1)] }, { clock: systemClock() });
  const stopping = new AbortController();
  let result: AgentResult | undefined;
  const running = createAgent({ name: "a", model: scriptedModel(turns), gate: world.gate, mode: "tools", clock, ...options }).run("do", { signal: stopping.signal }).then((ended) => (result = ended));
  await begun.promise;
  // What follows the call is under way too: the loop of the program, the question, the pause.
  await sleep(100);
  expect(result).toBeUndefined();
  stopping.abort();
  for (let passedMs = 0; passedMs < budgetMs && result === undefined; passedMs += 50) {
    await tick();
    await clock.advance(50);
  }
  // No more of its time passes from here on; whatever is still waited for is the machine's.
  const ended = await running;
  expect(ended.stop).toEqual({ kind: "cancelled" });
  expect(clock.pendingTimers).toBe(0);
  assertAnswered(ended.state.messages);
});

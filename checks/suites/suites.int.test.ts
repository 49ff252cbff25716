// Guards the published task sets as suites: a sample of each, by its recorded calls; whole: checks/full/eval.mjs.
import { isDeepStrictEqual } from "node:util";
import { proveSuite, runSuite, scriptedSubject } from "callgate/eval";
import { describe, expect, test } from "vitest";
import { agentTasks, hasAgentData } from "./agent-data.ts";
import { bfclWorld, callsOf, drawnFrom, recordedDraws, suite as bfcl } from "./bfcl-base.ts";
import type { BfclTask } from "./bfcl-base.ts";
import { suite as retail } from "./tau-retail.ts";
import { suite as workbench } from "./workbench.ts";

if (!hasAgentData) console.warn("the published suites are skipped: their tasks are not beside this repository (../shared/data/agent)");

describe.skipIf(!hasAgentData)("published task sets as suites", { timeout: 600_000 }, () => {
  test.each([["tau-retail", retail, 520, 173], ["workbench", workbench, 345, 86], ["bfcl-base", bfcl, 100, 30]] as const)("%s: the recorded calls end in the recorded state, and without one of them they do not", async (_name, make, count, step) => {
    const whole = make();
    expect(whole.cases).toHaveLength(count);
    const suite = { ...whole, cases: whole.cases.filter(({ skip }) => skip === undefined).filter((_one, index) => index % step === 0) };
    const { all, cases } = await runSuite({ suite, subject: scriptedSubject(), concurrency: 2 });
    expect(cases.flatMap(({ id, status, reason, attempts }) => (status === "passed" ? [] : [{ id, status, reason, failures: attempts.flatMap(({ failures }) => failures) }]))).toEqual([]);
    expect(all.passed).toBeGreaterThanOrEqual(3);
    const proofs = await proveSuite({ suite, concurrency: 2 });
    expect(proofs.filter(({ holds }) => !holds)).toEqual([]);
    expect(proofs.reduce((sum, { tried }) => sum + tried, 0)).toBeGreaterThanOrEqual(3);
  });

  test("bfcl-base: every recorded answer that can be known is given, and every end state reached, by the tools alone", () => {
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null, (key, item: unknown) => (key === "_last_modified" ? undefined : item)));
    // A new card has a balance that the set draws; a booking without a card of its own is the other of these two.
    const drawn = new Set(["multi_turn_base_172", "multi_turn_base_178"]);
    const tasks = agentTasks<BfclTask>("bfcl-base").filter(({ id }) => !drawn.has(id));
    const wrong = tasks.flatMap((task) => {
      const { methods, state } = bfclWorld(task, drawnFrom(recordedDraws(task)));
      const answers = callsOf(task).flatMap(({ class: owner, name, arguments: args, result }) => {
        const answer = plain(methods[owner]?.[name]?.(args));
        // Two kinds of answers were not kept as they were.
        return JSON.stringify(result) === "{}" || JSON.stringify(result).includes("$class") || isDeepStrictEqual(answer, plain(result)) ? [] : [`${task.id} ${name}: ${JSON.stringify(answer)}`];
      });
      return [...answers, ...(isDeepStrictEqual(plain(state), plain(task.finalState)) ? [] : [`${task.id}: another end state`])];
    });
    expect(wrong).toEqual([]);
    expect(tasks).toHaveLength(98);
  });
});

import { afterAll, describe, expect, test } from "vitest";
import { noFaults, randomFaults, rolledBackProgram, simulate, simulatedPrograms, waitingProgram } from "@callgate/testkit";
import type { FaultPlan, Simulated, SimulatedProgram } from "@callgate/testkit";
import { openSimulatedGate, sharedParts, sqliteStores } from "./fixtures/simulation-parts.ts";

const parts = sharedParts();
const stores = await sqliteStores();
afterAll(async () => {
  await parts.close();
  await stores.close();
});

async function simulated(program: SimulatedProgram, plan: { readonly faults: FaultPlan; readonly seed: number }): Promise<Simulated> {
  const store = stores.store();
  try {
    return await simulate({ program, ...plan, resumers: 1 + (plan.seed % 3), driver: parts.driver, checker: parts.checker, openGate: openSimulatedGate, openJournal: (clock) => store.open(clock) });
  } finally {
    await store.remove();
  }
}

/** How often a run was taken by whoever goes on with it. */
const claimsOf = (steps: Simulated["steps"]): number => steps.filter(({ label }) => label === "after claim").length;

/** A sample; checks/full/crash-matrix.mjs runs the whole. */
const everyNth = 4;
const randomSeeds = 12;
/** Seeds that showed a fault once: a process that stood still between its intent and the effect acted on a lost lease. */
const faultySeeds = [89, 291, 347, 360, 395];

describe("durable runs", () => {
  for (const program of [...simulatedPrograms, rolledBackProgram, waitingProgram]) {
    test(`br-007: a ${program.name} program keeps its promises when it is killed at any of its steps (a sample)`, { timeout: 300_000 }, async () => {
      const whole = await simulated(program, { faults: noFaults, seed: 1 });
      expect(whole.faults).toEqual([]);
      for (let step = 1; step < whole.steps.length; step += everyNth) {
        const { faults, steps } = await simulated(program, { faults: { crashes: new Set([step]), pauses: new Map() }, seed: 1 });
        expect(faults, `killed at step ${step}: ${steps[step]?.label}`).toEqual([]);
      }
    });

    test(`a ${program.name} program keeps its promises, and its process, when the wall clock is set on at any of its steps (a sample)`, { timeout: 300_000 }, async () => {
      const whole = await simulated(program, { faults: noFaults, seed: 1 });
      for (let step = 1; step < whole.steps.length; step += everyNth) {
        const { faults, steps } = await simulated(program, { faults: { ...noFaults, clockSets: new Map([[step, 600_000]]) }, seed: 1 });
        expect([faults, claimsOf(steps)], `set on at step ${step}: ${whole.steps[step]?.label}`).toEqual([[], claimsOf(whole.steps)]);
      }
    });

    test.runIf(program.asks === true)(`br-007: a ${program.name} program has the points approval write and prune among its steps`, async () => {
      const { steps } = await simulated(program, { faults: noFaults, seed: 1 });
      expect(steps.map(({ label }) => label)).toEqual(expect.arrayContaining(["before signal approval", "after signal approval", "before prune", "after prune"]));
    });

    test(`br-007, br-033: a ${program.name} program keeps its promises through several deaths and stops, with one to three resumers`, { timeout: 300_000 }, async () => {
      const { steps } = await simulated(program, { faults: noFaults, seed: 1 });
      for (const seed of [...Array.from({ length: randomSeeds }, (_, index) => index + 1), ...faultySeeds]) {
        const plan = randomFaults(seed, steps.length, { setsClock: true });
        const { faults } = await simulated(program, { faults: plan, seed });
        expect(faults, `seed ${seed}: killed at ${[...plan.crashes].join(" ")}, stopped at ${[...plan.pauses.keys()].join(" ")}`).toEqual([]);
      }
    });
  }
});

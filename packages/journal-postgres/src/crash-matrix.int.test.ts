import { noFaults, randomFaults, rolledBackProgram, simulate, simulatedPrograms, waitingProgram } from "@callgate/testkit";
import type { FaultPlan, Simulated, SimulatedProgram } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SimulationStores } from "../../runtime/src/run/fixtures/simulation-parts.ts";
import { openSimulatedGate, sharedParts } from "../../runtime/src/run/fixtures/simulation-parts.ts";
import { missingPostgres } from "./fixtures/private-postgres.ts";
import { postgresStores } from "./fixtures/simulation-stores.ts";

const missing = missingPostgres();

/** A sample; `checks/full/crash-matrix.mjs --journal postgres` runs the whole. */
const everyNth = 9;
const randomSeeds = 6;

describe.skipIf(missing !== undefined)(`durable runs on PostgreSQL${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let stores: SimulationStores;
  const parts = sharedParts();

  beforeAll(async () => {
    stores = await postgresStores();
  }, 120_000);
  afterAll(async () => {
    await parts.close();
    await stores.close();
  });

  async function simulated(program: SimulatedProgram, plan: { readonly faults: FaultPlan; readonly seed: number }): Promise<Simulated> {
    const store = stores.store();
    try {
      return await simulate({ program, ...plan, resumers: 1 + (plan.seed % 3), driver: parts.driver, checker: parts.checker, openGate: openSimulatedGate, openJournal: (clock) => store.open(clock), ...(store.atRest === undefined ? {} : { storeAtRest: store.atRest }) });
    } finally {
      await store.remove();
    }
  }

  for (const program of [...simulatedPrograms, rolledBackProgram, waitingProgram]) {
    test(`br-007, br-033: a ${program.name} program keeps its promises through deaths and stops of the processes that drive it (a sample)`, { timeout: 300_000 }, async () => {
      const whole = await simulated(program, { faults: noFaults, seed: 1 });
      expect(whole.faults).toEqual([]);
      for (let step = 2; step < whole.steps.length; step += everyNth) {
        const { faults, steps } = await simulated(program, { faults: { crashes: new Set([step]), pauses: new Map() }, seed: 1 });
        expect(faults, `killed at step ${step}: ${steps[step]?.label}`).toEqual([]);
      }
      for (let seed = 1; seed <= randomSeeds; seed += 1) {
        const plan = randomFaults(seed, whole.steps.length);
        const { faults } = await simulated(program, { faults: plan, seed });
        expect(faults, `seed ${seed}: killed at ${[...plan.crashes].join(" ")}, stopped at ${[...plan.pauses.keys()].join(" ")}`).toEqual([]);
      }
    });
  }
});

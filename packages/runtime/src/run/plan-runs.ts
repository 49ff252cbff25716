import { CallgateError } from "@callgate/contract";
import type { ApplyOptions, GatePlans, Plan, RunOptions, RunResult, SandboxDriver } from "@callgate/contract";
import { createGatePlans } from "./gate-plans.ts";
import type { GatePlansOptions } from "./gate-plans.ts";
import { pinnedTo } from "./recorded-plan.ts";
import { rehearse } from "./rehearse.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import type { Runner } from "./runner.ts";

export interface PlanRunsOptions extends GatePlansOptions {
  readonly seams: RunSeams;
  readonly runner: Runner;
  readonly drivers: readonly SandboxDriver[];
  readonly requestFor: (program: string, run: RunOptions, signal: AbortSignal) => RunRequest;
}

/** The part of a gate that rehearses programs and applies their plans. */
export interface PlanRuns {
  readonly plans: GatePlans;
  rehearse(program: string, run: RunOptions, signal: AbortSignal): Promise<RunResult>;
  apply(plan: Plan, apply: ApplyOptions, signal: AbortSignal): Promise<RunResult>;
}

export function createPlanRuns(options: PlanRunsOptions): PlanRuns {
  const { seams, runner, principal, requestFor } = options;
  const { approved, ...plans } = createGatePlans(options);
  return {
    plans,
    async rehearse(program, run, signal) {
      if (run.session !== undefined) throw new CallgateError("USAGE", "A block of a session cannot be rehearsed: what it does to the variables of the session stays. Nothing ran");
      const request = requestFor(program, run, signal);
      return await rehearse({ ...options, planOf: ({ runId }) => plans.of(runId, { principal: request.principal }) }, request);
    },
    async apply(given, apply, signal) {
      const { program, ...known } = await approved(given, apply.principal ?? principal);
      return await runner.run({ ...requestFor(program, optionsOf(known.plan, apply), signal), plan: pinnedTo(known, { redactor: seams.redactor, atMs: seams.clock.now() }) });
    },
  };
}

/** How the program of a plan is run: on whose behalf and as it was rehearsed, and under the name of its work, so that nothing of it is done twice. */
function optionsOf({ planId, program: { language }, principal, lane, taskId = `plan:${planId}`, seed }: Plan, { onFailure = "keep", ...apply }: ApplyOptions): RunOptions {
  return { ...apply, principal, onFailure, language, lane, seed, taskId };
}

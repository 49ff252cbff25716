import { CallgateError } from "@callgate/contract";
import type { Plan, ProgramLanguage, RunResult, SandboxDriver } from "@callgate/contract";
import { rehearseOthers } from "./rehearse-others.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import { driverFor } from "./runner.ts";
import type { Runner } from "./runner.ts";

export interface RehearserOptions {
  readonly seams: RunSeams;
  readonly runner: Pick<Runner, "run">;
  readonly drivers: readonly SandboxDriver[];
  /** The plan of a rehearsal that is on record. */
  readonly planOf: (result: RunResult) => Promise<Plan>;
}

/**
 * Runs a program with live reads and writes that are only recorded: first with other placeholders, so that what depends on
 * them shows, then as it is meant, then with its own reads and what else its writes could answer
 * (docs/decisions/0066-kinds-of-placeholders.md). One that comes to its end has a plan.
 *
 * What the program could change without a tool would be changed for good, so a sandbox that lets it do that is none for a
 * rehearsal. Errors: USAGE, REHEARSAL_REFUSED; nothing ran by then.
 */
export async function rehearse({ seams, runner, drivers, planOf }: RehearserOptions, request: RunRequest): Promise<RunResult> {
  const driver = driverFor(drivers, request.language);
  refuseWaysAround(seams, { driver, language: request.language });
  const { onOutput: _onOutput, ...quiet } = request;
  const varied = await runner.run({ ...quiet, rehearsal: { variant: { kind: "other" } } });
  if (varied.status === "rejected" || varied.status === "cancelled") return without(varied);
  const result = await runner.run({ ...request, rehearsal: { variant: { kind: "plain" }, heldAgainst: varied.runId } });
  if (result.status !== "completed") return without(result);
  await rehearseOthers({ seams, runner, driver }, quiet, result);
  const plan = await planOf(result);
  return { ...result, plan, notices: [...result.notices, rehearsedText(plan)] };
}

/** Errors: REHEARSAL_REFUSED where a program could change things without a tool. */
export function refuseWaysAround({ surroundingsOf }: Pick<RunSeams, "surroundingsOf">, { driver, language }: { readonly driver: SandboxDriver; readonly language: ProgramLanguage }): void {
  const { mounts, network } = surroundingsOf(driver, language);
  const ways = [...mounts.filter((mount) => !mount.startsWith("ro:")).map((mount) => `the folder ${mount}`), ...network.map((place) => `the network (${place})`)];
  if (ways.length > 0) throw new CallgateError("REHEARSAL_REFUSED", `The program was not rehearsed: in the sandbox ${driver.name} it could change things without a tool, by ${ways.join(", ")}, and a rehearsal could not hold that back. Nothing ran. Rehearse it in a sandbox without these, such as the embedded one`, { details: { sandbox: driver.name, ways } });
}

function without(result: RunResult): RunResult {
  return { ...result, notices: [...result.notices, "The rehearsal did not come to its end, so there is no plan. Nothing was changed"] };
}

/** Writes that are told one by one. */
const maxTold = 10;

function rehearsedText({ items, rehearsal }: Plan): string {
  if (items.length === 0) return "Rehearsed: the program writes nothing. Nothing was changed";
  const told = items.slice(0, maxTold).map(({ id, tool, isConditional, varies, decision }) => `item ${id} is ${tool}${decision.kind === "deny" ? " (denied)" : isConditional === true ? " (conditional)" : varies === undefined ? "" : " (its arguments come from writes before it)"}`);
  const more = items.length > maxTold ? ` and ${items.length - maxTold} more` : "";
  return `Rehearsed: nothing was changed. The plan of what the program would write has ${items.length === 1 ? "one item" : `${items.length} items`}: ${told.join(", ")}${more}. A person looks at the plan and approves it (callgate plan make ${rehearsal.runId})`;
}

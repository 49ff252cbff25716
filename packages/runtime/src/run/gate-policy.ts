import { CallgateError } from "@callgate/contract";
import type { GatePolicy, Policy, PolicyExplanation, PolicyFacts, PolicyFinding, Principal, SandboxDriver } from "@callgate/contract";
import type { Catalog } from "../catalog/catalog.ts";
import { runOf } from "./call-ids.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import { readDecidedCalls } from "./decided-calls.ts";
import type { DecidedCall } from "./decided-calls.ts";
import type { RunSeams } from "./run-scope.ts";
import { driverFor } from "./runner.ts";

export interface GatePolicyOptions {
  readonly policy: Policy;
  readonly keeper: CatalogKeeper;
  readonly drivers: readonly SandboxDriver[];
  /** Used where the caller names none. */
  readonly principal: Principal;
  readonly seams: Pick<RunSeams, "clock" | "journal" | "surroundingsOf">;
}

/** The policy in front of all tools there are, whoever may see them. */
export function createGatePolicy({ policy, keeper, drivers, principal, seams }: GatePolicyOptions): GatePolicy & { /** What people should know. */ problems(): readonly string[] } {
  const { inspection, version } = policy;
  const found = new WeakMap<Catalog, readonly PolicyFinding[]>();
  const factsOf = (tool: string, args: unknown, { principal: asker = principal, lane = "execute", callsBefore = 0, taint = [], atMs = seams.clock.now() }: NonNullable<Parameters<GatePolicy["explain"]>[2]>): PolicyFacts | undefined => {
    const known = keeper.current.resolve(tool);
    return known === undefined ? undefined : { principal: asker, tool, namespace: known.namespace, spec: known.tool, args, lane, runId: "", callsBefore, taint, atMs };
  };
  const explain: GatePolicy["explain"] = (tool, args, options = {}) => {
    const facts = factsOf(tool, args, options);
    return facts === undefined ? undefined : inspection.explain(facts);
  };

  function findings(): readonly PolicyFinding[] {
    const { current } = keeper;
    let known = found.get(current);
    if (known === undefined) found.set(current, (known = inspection.findings(current.tools.map(({ name, namespace, tool }) => ({ name, namespace, spec: tool })))));
    return known;
  }

  return {
    version,
    mode: inspection.mode,
    rules: () => inspection.rules(),
    findings,
    explain,
    explainResult(tool, { args, result }, options = {}) {
      const facts = factsOf(tool, args, options);
      return facts === undefined ? undefined : policy.decideResult({ ...facts, result });
    },
    explainRun(language, { principal: asker = principal, lane = "execute", ...given } = {}) {
      return policy.decideRun({ principal: asker, language, lane, runId: "", atMs: seams.clock.now(), ...seams.surroundingsOf(driverFor(drivers, language), language), ...given });
    },
    async explainCall(callId, { principal: asker = principal } = {}) {
      const run = await seams.journal.readRun(asker.tenant, runOf(callId));
      const call = run === undefined ? undefined : (await readDecidedCalls(seams.journal, run)).find((one) => one.callId === callId);
      if (call === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no call ${callId} on record; callgate runs show RUN lists the calls of a run, #3 of it is RUN.3`, { details: { callId } });
      return { tool: call.tool, principal: call.principal, recorded: call.decided, explanation: explainAgain(call, explain) };
    },
    async simulate({ runs: limit }) {
      const runs = await seams.journal.listRuns({ tenant: principal.tenant, limit });
      const calls = (await Promise.all(runs.filter(({ kind }) => kind !== "replay").map((run) => readDecidedCalls(seams.journal, run)))).flat();
      const again = calls.map((call) => ({ call, explanation: explainAgain(call, explain) }));
      const changes = again.flatMap(({ call: { callId, tool, principal: { user }, decided }, explanation }) =>
        decided === undefined || explanation === undefined || decided.decision === explanation.decision.kind ? [] : [{ callId, tool, user, before: decided, after: explanation.decision }],
      );
      const leftOut = again.filter(({ explanation }) => explanation === undefined).length;
      return { runs: runs.length, calls: calls.length - leftOut, leftOut, changes };
    },
    problems() {
      const observed = inspection.mode === "observe" ? ["The policy is not enforced (mode observe): every call is allowed, and what would have been asked or denied is only recorded. Set policy.mode to \"enforce\" to stop it"] : [];
      // Before the sources are listed every name would be one that no tool has.
      const errors = keeper.missing.length > 0 ? [] : findings().filter(({ severity }) => severity === "error");
      return [...observed, ...errors.map(({ ruleId, place, message }) => `Policy ${ruleId}${place === ruleId ? "" : ` (${place})`}: ${message}. callgate policy check says more`)];
    },
  };
}

/** Undefined where the arguments are gone, or the tool is. */
function explainAgain({ tool, principal, lane, seq, taint, atMs, args }: DecidedCall, explain: GatePolicy["explain"]): PolicyExplanation | undefined {
  return args === undefined ? undefined : explain(tool, args.value, { principal, lane, callsBefore: seq, taint, atMs });
}

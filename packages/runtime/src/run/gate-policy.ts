import { CallgateError } from "@callgate/contract";
import type { CallExplanation, GatePolicy, Policy, PolicyExplanation, PolicyFacts, PolicyFinding, PolicyInspection, Principal, ProgramLanguage, RunSurroundings, SandboxDriver } from "@callgate/contract";
import type { Catalog } from "../catalog/catalog.ts";
import { laneRefusal } from "../policy/lane-rule.ts";
import { runOf } from "./call-ids.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import { readDecidedCalls } from "./decided-calls.ts";
import type { RunSeams } from "./run-scope.ts";
import { judgedArgs } from "./judged-args.ts";
import { driverFor } from "./runner.ts";
import { factsAgain, simulatePolicy } from "./simulate-policy.ts";

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
  const factsOf = async (tool: string, args: unknown, { principal: asker = principal, lane = "execute", callsBefore = 0, taint = [], atMs = seams.clock.now() }: NonNullable<Parameters<GatePolicy["explain"]>[2]>): Promise<SupposedCall | undefined> => {
    const known = keeper.current.resolve(tool);
    if (known === undefined) return undefined;
    const judged = await judgedArgs(known, args, seams.clock);
    const facts = { principal: asker, tool, namespace: known.namespace, spec: known.tool, args: judged.kind === "fits" ? judged.args : args, lane, runId: "", callsBefore, taint, atMs };
    return { facts, misfit: judged.kind === "fits" ? {} : { issues: judged.issues } };
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
    findings: (tools) => (tools === undefined ? findings() : inspection.findings(tools)),
    async explain(tool, args, options = {}) {
      const supposed = await factsOf(tool, args, options);
      return supposed === undefined ? undefined : { ...explained(inspection, supposed.facts), ...supposed.misfit };
    },
    async explainResult(tool, { args, result }, options = {}) {
      const supposed = await factsOf(tool, args, options);
      return supposed === undefined ? undefined : { decision: policy.decideResult({ ...supposed.facts, result }), ...supposed.misfit };
    },
    explainRun(language, { principal: asker = principal, lane = "execute", ...given } = {}) {
      return policy.decideRun({ principal: asker, language, lane, runId: "", atMs: seams.clock.now(), ...seams.surroundingsOf(driverFor(drivers, language), language), reach: [], newAgent: false, ...given });
    },
    async explainCall(callId, { principal: asker = principal } = {}) {
      const run = await seams.journal.readRun(asker.tenant, runOf(callId));
      const call = run === undefined ? undefined : (await readDecidedCalls(seams.journal, run)).find((one) => one.callId === callId);
      if (call === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no call ${callId} on record; callgate runs show RUN lists the calls of a run, #3 of it is RUN.3`, { details: { callId } });
      const facts = await factsAgain({ catalog: keeper.current, clock: seams.clock }, call);
      return { tool: call.tool, principal: call.principal, recorded: call.decided, explanation: facts === undefined ? undefined : explained(inspection, facts) };
    },
    async simulate({ runs }) {
      const { clock, journal } = seams;
      const surroundingsOf = (language: ProgramLanguage): RunSurroundings | undefined => {
        const driver = drivers.find(({ languages }) => languages.includes(language));
        return driver === undefined ? undefined : seams.surroundingsOf(driver, language);
      };
      return await simulatePolicy({ policy, catalog: keeper.current, journal, clock, surroundingsOf }, { tenant: principal.tenant, runs });
    },
    problems() {
      const observed = inspection.mode === "observe" ? ["The policy is not enforced (mode observe): every call is allowed, and what would have been asked or denied is only recorded. Set policy.mode to \"enforce\" to stop it"] : [];
      // Before the sources are listed every name would be one that no tool has.
      const errors = keeper.missing.length > 0 ? [] : findings().filter(({ severity }) => severity === "error");
      return [...observed, ...errors.map(({ ruleId, place, message }) => `Policy ${ruleId}${place === ruleId ? "" : ` (${place})`}: ${message}. callgate policy check says more`)];
    },
  };
}

/** A call that nobody made. */
interface SupposedCall {
  readonly facts: PolicyFacts;
  readonly misfit: Pick<CallExplanation, "issues">;
}

/** What the policy says of a call, below what its lane says. */
function explained(inspection: PolicyInspection, facts: PolicyFacts): PolicyExplanation {
  const explanation = inspection.explain(facts);
  const byLane = laneRefusal({ lane: facts.lane, tool: facts.tool, effect: facts.spec.effect });
  if (byLane === undefined || explanation.decision.kind === "deny") return explanation;
  return { ...explanation, decision: byLane, help: byLane.help === undefined ? [] : [byLane.help] };
}

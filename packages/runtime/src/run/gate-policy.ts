import { CallgateError } from "@callgate/contract";
import type { GatePolicy, Policy, PolicyFacts, PolicyFinding, Principal, ProgramLanguage, RunSurroundings, SandboxDriver } from "@callgate/contract";
import type { Catalog } from "../catalog/catalog.ts";
import { runOf } from "./call-ids.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import { readDecidedCalls } from "./decided-calls.ts";
import type { RunSeams } from "./run-scope.ts";
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
    findings: (tools) => (tools === undefined ? findings() : inspection.findings(tools)),
    explain,
    explainResult(tool, { args, result }, options = {}) {
      const facts = factsOf(tool, args, options);
      return facts === undefined ? undefined : policy.decideResult({ ...facts, result });
    },
    explainRun(language, { principal: asker = principal, lane = "execute", ...given } = {}) {
      return policy.decideRun({ principal: asker, language, lane, runId: "", atMs: seams.clock.now(), ...seams.surroundingsOf(driverFor(drivers, language), language), reach: [], newAgent: false, ...given });
    },
    async explainCall(callId, { principal: asker = principal } = {}) {
      const run = await seams.journal.readRun(asker.tenant, runOf(callId));
      const call = run === undefined ? undefined : (await readDecidedCalls(seams.journal, run)).find((one) => one.callId === callId);
      if (call === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no call ${callId} on record; callgate runs show RUN lists the calls of a run, #3 of it is RUN.3`, { details: { callId } });
      const facts = await factsAgain({ catalog: keeper.current, clock: seams.clock }, call);
      return { tool: call.tool, principal: call.principal, recorded: call.decided, explanation: facts === undefined ? undefined : inspection.explain(facts) };
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

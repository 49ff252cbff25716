// Door: evaluation of agents and programs behind gates of this package. Anything exported here is public.
import { proveSuite as prove, runSuite as run } from "@callgate/eval";
import type { CaseProof, EvalEnvironment, EvalReport, ProveSuiteOptions, RunSuiteOptions } from "@callgate/eval";
import type { CallgateOptions } from "./create-callgate.ts";
import { createEvalGates } from "./eval/eval-gates.ts";

export { agentSubject, emptySubject, htmlPage, junitProofXml, junitXml, parseSuite, readBaseline, readSuite, regressionsOf, saveBaseline, scriptedSubject } from "@callgate/eval";
export type { AgentSubjectOptions, Baseline, CaseKind, CaseProof, CaseReport, EvalCase, EvalReport, EvalSuite, EvalWorld, GroupReport, ReadSuite, Regression, ScriptedWork, StateCheck, Subject, SubjectReport, SubjectTask } from "@callgate/eval";

/** Sets up a fresh world for each attempt; `openGate` takes what `createCallgate` takes. */
export type Environment = EvalEnvironment<CallgateOptions>;

/** Gives an environment its types. */
export function defineEnvironment(environment: Environment): EvalEnvironment {
  return environment as EvalEnvironment;
}

/** Tries a subject on every case of a suite, each attempt behind a gate of its own. Errors: `CallgateError` USAGE. */
export async function runSuite(options: Omit<RunSuiteOptions, "openGate">): Promise<EvalReport> {
  await using gates = createEvalGates();
  return await run({ ...options, openGate: (given, stateFolder) => gates.open(given, stateFolder) });
}

/** Holds each case against subjects that must not pass it. Errors: `CallgateError` USAGE. */
export async function proveSuite(options: Omit<ProveSuiteOptions, "openGate">): Promise<readonly CaseProof[]> {
  await using gates = createEvalGates();
  return await prove({ ...options, openGate: (given, stateFolder) => gates.open(given, stateFolder) });
}

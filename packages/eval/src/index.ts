// Door: evaluation. Anything exported here is public.

export type { EvalEnvironment, EvalWorld, NoWorld, WorldRequest } from "./environment.ts";
export { caseKinds } from "./suite/eval-suite.ts";
export type { CaseBudgets, CaseKind, EvalCase, EvalSuite, RequiredCall, ScriptedWork, StateCheck } from "./suite/eval-suite.ts";
export { parseSuite, readSuite } from "./suite/read-suite.ts";
export type { ReadSuite } from "./suite/read-suite.ts";
export { suiteSchema } from "./suite/suite-schema.ts";
export { agentSubject, scriptedSubject } from "./attempt/agent-subject.ts";
export type { AgentSubjectOptions } from "./attempt/agent-subject.ts";
export { emptySubject } from "./attempt/subject.ts";
export type { Subject, SubjectReport, SubjectTask } from "./attempt/subject.ts";
export type { Failure, FailureKind } from "./attempt/judge.ts";
export type { RecordedCall } from "./attempt/recorded-calls.ts";
export type { AttemptReport, AttemptStatus, GateOpener } from "./attempt/run-attempt.ts";
export { runSuite } from "./run-suite.ts";
export type { RunSuiteOptions } from "./run-suite.ts";
export { proveSuite } from "./prove-suite.ts";
export type { CaseProof, ProveSuiteOptions } from "./prove-suite.ts";
export type { CaseReport, CaseStatus, EvalReport, GroupReport } from "./report/eval-report.ts";
export { readBaseline, regressionsOf, saveBaseline } from "./report/baseline.ts";
export type { Baseline, Regression } from "./report/baseline.ts";
export { htmlPage } from "./report/html-page.ts";
export { failureLine, junitProofXml, junitXml } from "./report/junit-xml.ts";
export { percent } from "./report/statistics.ts";
export type { Rate } from "./report/statistics.ts";

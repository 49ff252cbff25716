// Door: what tests of several packages share.

export { virtualClock } from "./virtual-clock.ts";
export type { VirtualClock } from "./virtual-clock.ts";
export { memoryBlobs } from "./memory-blobs.ts";
export type { MemoryBlobs } from "./memory-blobs.ts";
export { processesNamed } from "./processes-named.ts";
export { readSecurityCases, securityCasesUrl } from "./security-cases.ts";
export type { SecurityCase } from "./security-cases.ts";
export { testJournal } from "./journal/test-journal.ts";
export type { JournalStore } from "./journal/journal-store.ts";
export { ended, entriesOfEveryKind, issued, leaseOf, printed, recorded, sampleFinish, sampleRun } from "./journal/journal-samples.ts";
export { startJournalProcess } from "./journal/journal-process.ts";
export type { ChildOpening, JournalProcess } from "./journal/journal-process.ts";
export { conformanceOf } from "./sandbox-driver/conformance.ts";
export type { CaseVerdict, ConformanceOptions } from "./sandbox-driver/conformance.ts";
export { sandboxDriverGroups, testSandboxDriver } from "./sandbox-driver/test-sandbox-driver.ts";
export type { SandboxDriverSuiteOptions } from "./sandbox-driver/test-sandbox-driver.ts";
export { defaultSeed, defaultStartMs, jobFor, programText, startProgram, startText, valueOf } from "./sandbox-driver/guest-harness.ts";
export type { HarnessOptions, HarnessRun, HarnessTool } from "./sandbox-driver/guest-harness.ts";
export { simulate } from "./simulation/simulate.ts";
export type { GateParts, Simulated, SimulationOptions } from "./simulation/simulate.ts";
export { judge, judgeInterrupted, judgeUndone } from "./simulation/judge.ts";
export type { ReportedWrite } from "./simulation/judge.ts";
export { ledgerOf } from "./simulation/ledger.ts";
export { noFaults, randomFaults } from "./simulation/faults.ts";
export type { FaultPlan, StepRecord } from "./simulation/faults.ts";
export { rolledBackProgram, simulatedPrograms, waitingProgram } from "./simulation/simulated-programs.ts";
export type { SimulatedProgram } from "./simulation/simulated-programs.ts";

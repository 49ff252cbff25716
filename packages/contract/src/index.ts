// Shapes that cross a wall, and every seam's interface. No I/O. Anything exported here is public.

export type { Digest, JsonObject, JsonSchema, JsonValue } from "./json.ts";
export { parseLosslessJson, writeLosslessJson } from "./lossless-json.ts";
export type { Principal } from "./principal.ts";
export { localPrincipal } from "./principal.ts";
export type { AgentRecord } from "./agent-record.ts";
export type { Artifact, ArtifactInput } from "./artifact.ts";
export type {
  AuditCheckpoint,
  AuditFault,
  AuditFinding,
  AuditHold,
  AuditRow,
  AuditRowFilter,
  AuditValue,
  AuditVerdict,
  HoldScope,
  JournalAudit,
  LedgerEvent,
  LedgerLine,
  VerifyOptions,
} from "./audit.ts";
export type { ExplanationPart, RunExplanation } from "./explanation.ts";
export type { GateAudit } from "./gate-audit.ts";
export type { CallExplanation, GatePolicy, PolicySimulation, RecordedCallExplanation, ResultExplanation, SimulatedChange } from "./gate-policy.ts";
export type { EditOptions, GateTimeTravel } from "./gate-time-travel.ts";
export type { Clock } from "./clock.ts";
export type { CallTrace, TracedCall } from "./call-trace.ts";
export type { Capabilities, RunParent } from "./capabilities.ts";
export type { Workflow, WorkflowFinding, WorkflowManifest, WorkflowRecording, WorkflowTest, WorkflowTool } from "./workflow.ts";
export type { CallOutcome, EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
export type { CallError, CallErrorCode, ToolErrorInit } from "./call-error.ts";
export { callErrorCodes, ToolError } from "./call-error.ts";
export type { CallgateErrorCode } from "./callgate-error.ts";
export { callgateErrorCodes, CallgateError } from "./callgate-error.ts";
export type { AfterAnswer, BeforeAnswer, InterceptedCall, InterceptedHow, Interceptor } from "./interceptor.ts";
export type { LimitName, RunLimits } from "./limits.ts";
export { defaultLimits } from "./limits.ts";
export type { Budget, BudgetAnswer, BudgetClaim, BudgetCount, BudgetCounter, BudgetSettlement, BudgetUnit, BudgetView, BudgetWindow, CallCost, Spent } from "./budgets.ts";
export { budgetUnits, nothingSpent } from "./budgets.ts";
export type { GateGrants, GivenGrant, Grant, GrantArguments, GrantClaim, GrantScope, GrantTest, GrantUse, GrantView, GrantWithAnswer, JournalGrants, KeptGrant } from "./grant.ts";
export type { CircuitBreaker, CircuitView, ConcurrencyLimit, LimitRule, LimitScope, RateAnswer, RateLimit, RateStore } from "./call-limits.ts";
export type {
  CacheSpec,
  CostSpec,
  Effect,
  JobCancelled,
  OlderVersion,
  Label,
  ParseIssue,
  ParseResult,
  PollAnswer,
  ReconcileAnswer,
  RetrySpec,
  Tool,
  ToolContext,
  ToolErrorSpec,
  ToolExample,
  ToolHooks,
  ToolLogger,
  ToolSpec,
} from "./tool-spec.ts";
export type {
  LogLevel,
  Source,
  SourceListing,
  SourceNotice,
  SourceNotices,
  SourcePassThrough,
  SourceProblem,
  SourcePrompt,
  SourcePromptMessage,
  SourceResource,
  SourceResourceContent,
  SourceResourceTemplate,
  SourceState,
  SourceTool,
} from "./source.ts";
export { SourceReturn } from "./source.ts";
export type { AskingCall, AskServerQuestion, ServerAnswer, ServerQuestion } from "./server-question.ts";
export type { TaskTemplate } from "./task-template.ts";
export type { PinnedTool, PinStore, SourcePins } from "./pins.ts";
export type { SourceOptions, ToolSettings } from "./source-options.ts";
export type { ValueBounds, ValueErrorCode, WireValue } from "./value-codec.ts";
export { defaultValueBounds, encodeValue, encodeValueOnce, ValueError } from "./value-codec.ts";
export { decodeValue } from "./decode-value.ts";
export { duplicateKey } from "./duplicate-key.ts";
export type {
  CallPlace,
  GuestBuiltin,
  GuestCall,
  GuestCompletion,
  GuestConnection,
  GuestConsoleEntry,
  GuestEnd,
  GuestError,
  GuestOutput,
} from "./guest-frames.ts";
export { guestProtocolVersion } from "./guest-frames.ts";
export type { GuestBlock, GuestHost, GuestJob, GuestModule, GuestRun, GuestSession, KnownLanguage, ProgramLanguage, SandboxDriver, SessionBlock, SessionLoss, SessionOptions, SessionStatus } from "./sandbox-driver.ts";
export type {
  Checker,
  CheckReport,
  CheckRequest,
  DeclarationText,
  Diagnostic,
  Lane,
  NamespaceDeclaration,
  ProgramForm,
  Reach,
  Repair,
  SessionBlockCheck,
  UnavailableNamespace,
} from "./checker.ts";
export type { AnswerStore, KeptAnswer, SharedAnswers } from "./answer-store.ts";
export type { Blobs } from "./blobs.ts";
export type {
  ClaimedRun,
  EndedClaim,
  DeliveredCall,
  Durability,
  Journal,
  JournalEntry,
  OnFailure,
  PruneOptions,
  PruneResult,
  RunFilter,
  RunFinish,
  RunKind,
  RunRecord,
  RunUnreadable,
  RunStart,
  RunTokens,
} from "./journal.ts";
export type { RecordedValue } from "./recorded-value.ts";
export type { NewCalls, RecordedThen, RunEdit } from "./run-edit.ts";
export type {
  CallDifference,
  DiffedCall,
  EditResult,
  NewCall,
  Recording,
  RecordingAnswer,
  RecordingEnd,
  RecordingResult,
  RecordingTool,
  RecordingValue,
  RunDiff,
  RunSide,
  RunStep,
  RunSteps,
} from "./time-travel.ts";
export type {
  ClaimOptions,
  EffectClaim,
  EffectReservation,
  Queue,
  RecordedEffect,
  RunHint,
  RunHolder,
  RunLease,
  RunSignal,
  RunWait,
  SignalReceipt,
  Suspension,
} from "./durable.ts";
export { BackgroundJob } from "./background-job.ts";
export type {
  Policy,
  NextDecision,
  PolicyDecision,
  PolicyExplanation,
  PolicyFacts,
  PolicyFinding,
  PolicyInspection,
  PolicyMode,
  PolicyRuleView,
  PolicyTool,
  ResultPolicyFacts,
  RunPolicyFacts,
  RunSurroundings,
} from "./policy.ts";
export type { ArgumentOrigins, CallLineage, Origin, RunLineage } from "./lineage.ts";
export { pagedOutput } from "./paged-output.ts";
export type { LearnedOutput, LearnedOutputStore } from "./learned-output.ts";
export type { EmbeddingProvider, SearchEmbedding } from "./embedding.ts";
export type { SearchIndexStore } from "./search-index-store.ts";
export type { SecretVault } from "./secret-vault.ts";
export { secretForms } from "./secret-forms.ts";
export type { TraceContext } from "./trace-context.ts";
export type { Tracing } from "./tracing.ts";
export type { GatePlans, Plan, PlanAnswer, PlanApproval, PlanItem, PlanItemEdit, PlanItemEnd, PlanProgress } from "./plan.ts";
export type { SimulatedBy } from "./simulation.ts";
export type { TaintMark, TaintScope } from "./taint.ts";
export type { AnswerSignature, AnswerSigner, ApprovalAnswer, ApprovalQuestion, ApprovalRules, ApprovalSignal, Approver, ApproverKey, ApprovedVersion } from "./approval.ts";
export { detectorNames } from "./redactor.ts";
export type { DetectorName, DetectorSwitches, Redactor, SensitiveMark } from "./redactor.ts";
export type { CallSummary, Handle, RunError, RunResult, ShapedValue } from "./run-result.ts";
export type { GateEvent, GateEventKind } from "./gate-event.ts";
export type { GateApprovals, GivenAnswer, PendingApproval, ShownApproval } from "./gate-approvals.ts";
export type {
  ApplyOptions,
  CallOptions,
  CallResult,
  Gate,
  JobView,
  ResumeOptions,
  RunWorker,
  NamespaceView,
  OpenSessionOptions,
  ReadOptions,
  ReadResult,
  ReplayResult,
  RunOptions,
  FoundNamespace,
  SearchHit,
  SearchOptions,
  SessionView,
  ToolDetail,
  ToolView,
} from "./gate.ts";

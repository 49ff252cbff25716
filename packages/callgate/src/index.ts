// What people import. Anything exported here is public.

export { agentTool, aiSdkEmbedding, aiSdkTools, aiTools, anthropicProgrammaticTools, createAgent, createCassette, createTeam, defaultAgentLimits, handoff, langchainTools, openaiAgentsTools, openaiProgrammaticTools, promptNames, promptText, scriptedModel } from "@callgate/agent";
export type {
  Agent,
  AgentEffects,
  AgentEvent,
  AgentLimits,
  AgentMode,
  AgentModel,
  AgentOptions,
  AgentResult,
  AgentStop,
  AgentStream,
  AgentToolOptions,
  AgentUsage,
  AiSdkEmbeddingModel,
  AiSdkTool,
  AiToolsOptions,
  AnthropicAnswer,
  AnthropicProgrammaticTools,
  BudgetName,
  CallReport,
  CallStatus,
  Cassette,
  CassetteOptions,
  EscalationAnswer,
  EscalationItem,
  InteropOptions,
  ModelPrice,
  OpenaiProgrammaticTools,
  ProgrammaticOptions,
  PromptName,
  ResumeOptions as AgentResumeOptions,
  ScriptedModel,
  ScriptedTurn,
  SessionState,
  TaskOptions,
  Team,
  TeamOptions,
  TeamOrder,
  TeamResult,
  TeamTurn,
  TurnUsage,
  UserQuestion,
  WaitingCall,
} from "@callgate/agent";
export { BackgroundJob, CallgateError, callErrorCodes, callgateErrorCodes, defaultLimits, localPrincipal, SourceReturn, ToolError } from "@callgate/contract";
export type {
  AfterAnswer,
  ApplyOptions,
  ApprovalAnswer,
  ApprovalQuestion,
  Approver,
  Artifact,
  AuditRow,
  AuditRowFilter,
  BeforeAnswer,
  CallError,
  CallOptions,
  CallOutcome,
  CallResult,
  CallSummary,
  Clock,
  Diagnostic,
  EditOptions,
  EditResult,
  Effect,
  EffectStatus,
  EmbeddingProvider,
  Gate,
  GateEvent,
  GatePolicy,
  Handle,
  InterceptedCall,
  Interceptor,
  JsonValue,
  NewCall,
  NewCalls,
  OlderVersion,
  OpenSessionOptions,
  OutcomeKind,
  PendingApproval,
  Plan,
  PlanAnswer,
  PlanItem,
  PlanItemEdit,
  PlanProgress,
  PolicyDecision,
  PolicyExplanation,
  PolicyFinding,
  PolicyRuleView,
  Principal,
  ProgramLanguage,
  ReadOptions,
  ReadResult,
  Recording,
  ReplayResult,
  ResumeOptions,
  RunDiff,
  RunExplanation,
  RunLimits,
  RunOptions,
  RunResult,
  RunStatus,
  RunStep,
  RunSteps,
  RunWait,
  RunWorker,
  FoundNamespace,
  SearchEmbedding,
  SearchHit,
  SearchOptions,
  SessionBlock,
  SessionLoss,
  SessionView,
  ShapedValue,
  Source,
  SourceListing,
  SourceOptions,
  TaskTemplate,
  Tool,
  ToolContext,
  ToolSpec,
  ToolView,
} from "@callgate/contract";
export { createLazyTokenCounter, modelView, systemClock } from "@callgate/runtime";
export { openModel } from "./agent/open-model.ts";
export type { ModelHost } from "./agent/open-provider.ts";
export type { AgentConfig } from "./config/agent-schema.ts";
export { openApprover } from "./approver/open-approver.ts";
export type { OpenApproverOptions } from "./approver/open-approver.ts";
export { callbackApprover, defineInterceptor, keepingApprover } from "@callgate/runtime/broker";
export type { PolicyRule } from "@callgate/policy-cedar";
export { httpTool } from "./http-tool/http-tool.ts";
export type { HttpToolDefinition } from "./http-tool/http-tool.ts";
export { defineOlderVersion, defineTool, functionSource, shapeSource } from "@callgate/runtime/source";
export type { OlderVersionDefinition, ToolDefinition } from "@callgate/runtime/source";
export { createGateMetrics } from "@callgate/runtime/telemetry";
export type { GateMetrics, GateMetricsOptions, MetricFamily } from "@callgate/runtime/telemetry";
export { defineConfig } from "./config/load-config.ts";
export type { CallgateConfig } from "./config/load-config.ts";
export { extractCodeBlocks } from "@callgate/runtime/executor";
export type { BlockResult, CodeBlock, CodeResult, ExecuteOptions, ExtractOptions, MarkdownBlock, MarkdownOptions, MarkdownResult, OutputPart } from "@callgate/runtime/executor";
export { exportAudit } from "./audit/export-audit.ts";
export type { AuditFormat } from "./audit/export-audit.ts";
export { createToolHistory } from "./history/tool-history.ts";
export type { ToolHistory, ToolHistoryOptions, ToolMoment } from "./history/tool-history.ts";
export { toolChanges } from "./history/tool-changes.ts";
export type { BrokenProgram, NamespaceChanges, ToolChanges, ToolChangesOptions } from "./history/tool-changes.ts";
export { createCallgate } from "./create-callgate.ts";
export type { CallgateOptions } from "./create-callgate.ts";
export { createCodeExecutor } from "./executor/create-code-executor.ts";
export type { CodeExecutor, CodeExecutorOptions } from "./executor/create-code-executor.ts";
export type { PythonFunctions } from "./executor/python-functions.ts";

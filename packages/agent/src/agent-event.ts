import type { ApprovalQuestion, EffectStatus, JsonValue, ProgramLanguage, RunStatus } from "@callgate/contract";
import type { AgentResult, BudgetName, CallReport, EscalationItem, TurnUsage } from "./agent-result.ts";
import type { UserQuestion } from "./session/session-state.ts";

interface AgentScoped {
  readonly atMs: number;
  readonly sessionId: string;
  /** The agent that has the word. */
  readonly agent: string;
  /** Of this run of the agent, from 1. 0 before the model is asked for the first time. */
  readonly turn: number;
}

/** The model is about to be asked. */
export interface ModelStartEvent extends AgentScoped {
  readonly kind: "model-start";
  readonly model: string;
  /** Messages of the history that it is shown. */
  readonly messages: number;
  /** What is sent, about. */
  readonly promptTokens: number;
}

/** A piece of its answer, as it comes. */
export interface ModelDeltaEvent extends AgentScoped {
  readonly kind: "model-delta";
  readonly channel: "text" | "reasoning";
  readonly delta: string;
}

/** The answer broke off, or none came; what was heard of it is void, and it is asked again. */
export interface ModelRetryEvent extends AgentScoped {
  readonly kind: "model-retry";
  readonly attempt: number;
  readonly reason: string;
}

export interface ModelEndEvent extends AgentScoped {
  readonly kind: "model-end";
  readonly text: string;
  readonly finishReason: string;
  readonly usage: TurnUsage;
}

/** What the model asks for in one turn, in its order. Nothing of it has begun. */
export interface ToolCallRequestEvent extends AgentScoped {
  readonly kind: "tool-call-request";
  readonly calls: readonly { readonly callId: string; readonly tool: string; readonly input: JsonValue }[];
}

export interface ToolCallProgressEvent extends AgentScoped {
  readonly kind: "tool-call-progress";
  readonly callId: string;
  readonly tool: string;
  readonly message: string;
  readonly fraction?: number;
}

/** What came of all calls of the turn, in the order in which they were asked for. */
export interface ToolCallExecutionEvent extends AgentScoped {
  readonly kind: "tool-call-execution";
  readonly results: readonly CallReport[];
}

/** The model has written a program, or a block of code. It has not begun. */
export interface CodeGenerationEvent extends AgentScoped {
  readonly kind: "code-generation";
  readonly callId: string;
  readonly language: ProgramLanguage;
  readonly code: string;
}

export interface CodeExecutionEvent extends AgentScoped {
  readonly kind: "code-execution";
  readonly callId: string;
  readonly runId: string;
  readonly status: RunStatus;
  readonly effectStatus: EffectStatus;
  /** What the model reads of it. */
  readonly text: string;
}

export interface ApprovalRequestedEvent extends AgentScoped {
  readonly kind: "approval-requested";
  readonly callId: string;
  readonly question: ApprovalQuestion;
}

export interface ApprovalAnsweredEvent extends AgentScoped {
  readonly kind: "approval-answered";
  readonly callId: string;
  readonly approvalId: string;
  readonly approved: boolean;
  readonly by: string;
}

/** The model asks the user something. No answer to it is one to an approval. */
export interface QuestionAskedEvent extends AgentScoped {
  readonly kind: "question-asked";
  readonly callId: string;
  readonly question: UserQuestion;
}

export interface QuestionAnsweredEvent extends AgentScoped {
  readonly kind: "question-answered";
  readonly callId: string;
  readonly answer: JsonValue;
}

/** Another agent has the word from the next turn on. `ignored`: it was asked for after the first, and did not happen. */
export interface HandoffEvent extends AgentScoped {
  readonly kind: "handoff";
  readonly callId: string;
  readonly to: string;
  readonly context: JsonValue;
  readonly ignored?: true;
}

/** What the model asked for could not be done as it was written; it was told why, and may try again. */
export interface RepairEvent extends AgentScoped {
  readonly kind: "repair";
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly reason: string;
}

export interface EscalationEvent extends AgentScoped {
  readonly kind: "escalation";
  readonly item: EscalationItem;
}

export interface HistoryCompactedEvent extends AgentScoped {
  readonly kind: "history-compacted";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Results that are only named from now on. */
  readonly replaced: number;
  /** Messages that are gone. */
  readonly dropped: number;
}

export interface BudgetReachedEvent extends AgentScoped {
  readonly kind: "budget-reached";
  readonly budget: BudgetName;
  readonly limit: number;
}

/** The last event of every run. */
export interface FinalEvent extends AgentScoped {
  readonly kind: "final";
  readonly result: AgentResult;
}

/**
 * Everything an agent says, in the order it happened. A turn is `model-start`, deltas and retries, `model-end`; then, where
 * the model asks for something, `tool-call-request`, what happens meanwhile, `tool-call-execution`. Kinds and order are
 * pinned by test.
 */
export type AgentEvent =
  | ModelStartEvent
  | ModelDeltaEvent
  | ModelRetryEvent
  | ModelEndEvent
  | ToolCallRequestEvent
  | ToolCallProgressEvent
  | ToolCallExecutionEvent
  | CodeGenerationEvent
  | CodeExecutionEvent
  | ApprovalRequestedEvent
  | ApprovalAnsweredEvent
  | QuestionAskedEvent
  | QuestionAnsweredEvent
  | HandoffEvent
  | RepairEvent
  | EscalationEvent
  | HistoryCompactedEvent
  | BudgetReachedEvent
  | FinalEvent;

/** An event without what every event has. */
export type AgentNews = AgentEvent extends infer Event ? (Event extends AgentEvent ? Omit<Event, keyof AgentScoped> : never) : never;

import type { CallError, EffectStatus } from "@callgate/contract";
import type { SessionState, WaitingCall } from "./session/session-state.ts";

/** Tokens of one turn. `isEstimated`: the provider did not say, so that they are counted from the text. */
export interface TurnUsage {
  readonly inputTokens: number;
  /** Of `inputTokens`: read from the provider's cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly isEstimated: boolean;
}

/** What a run of an agent used up. */
export interface AgentUsage {
  readonly turns: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar: of the model by the agent's `price`, of tools as they say. */
  readonly microUsd: number;
  readonly isEstimated: boolean;
}

/**
 * How a call that the model asked for ended.
 *
 * - `ok`
 * - `invalid`: nothing was done, because of what the model wrote; another text may help
 * - `failed`: it was begun and did not end well; `effectStatus` says what it changed
 * - `not_executed`: refused, or overtaken, before it began. A denial is one. Never tried again
 * - `cancelled`
 * - `waiting`: for a person
 */
export type CallStatus = "ok" | "invalid" | "failed" | "not_executed" | "cancelled" | "waiting";

/** One call of the model and what it was told. */
export interface CallReport {
  readonly callId: string;
  /** Qualified name where it is a tool of the gate. */
  readonly tool: string;
  readonly status: CallStatus;
  readonly effectStatus: EffectStatus;
  /** Runs of the gate that it was. */
  readonly runIds: readonly string[];
  /** What the model reads. */
  readonly text: string;
  readonly durationMs: number;
}

export type BudgetName = "turns" | "toolCalls" | "tokens" | "microUsd" | "wallMs" | "errors";

/** What a person is given who is to go on where the agent could not. */
export interface EscalationItem {
  readonly sessionId: string;
  readonly agent: string;
  readonly task: string;
  /** The program, or the arguments, that failed last. */
  readonly lastCode?: string;
  /** What the model was told, oldest first. */
  readonly errors: readonly string[];
  readonly effects: AgentEffects;
}

/** What a person says to an escalation. */
export type EscalationAnswer =
  /** The model goes on, and reads the hint first. */
  | { readonly kind: "retry"; readonly hint: string }
  | { readonly kind: "take_over"; readonly answer: string }
  | { readonly kind: "abort" };

/** What happened to the world, as `tool: status` lines. */
export interface AgentEffects {
  readonly done: readonly string[];
  readonly unknown: readonly string[];
}

/** Why it ended. Each comes with an answer that can be used. */
export type AgentStop =
  | { readonly kind: "answered" }
  | { readonly kind: "budget"; readonly budget: BudgetName; readonly limit: number }
  /** Goes on with `Agent.resume`, here or elsewhere. */
  | { readonly kind: "suspended"; readonly waits: readonly WaitingCall[] }
  /** Repairs are used up. `defaulted`: the answer is the declared safe default. */
  | { readonly kind: "escalated" | "defaulted"; readonly item: EscalationItem }
  /** A person answered in its place, or ended it. */
  | { readonly kind: "taken_over" | "aborted"; readonly item: EscalationItem }
  | { readonly kind: "cancelled" }
  /** The model could not be asked, or gave nothing that can be used. */
  | { readonly kind: "failed"; readonly error: Pick<CallError, "code" | "message" | "retryable"> };

/** What comes of one task. */
export interface AgentResult {
  /** Never empty. Where the model gave none it says why, and what is known. */
  readonly answer: string;
  /** Where the agent has an `output` schema and `stop` is `answered` or `defaulted`. */
  readonly output?: unknown;
  readonly stop: AgentStop;
  /** Who had the word last. */
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly usage: AgentUsage;
  /** Of this run, in the order in which they were asked for. */
  readonly calls: readonly CallReport[];
  readonly effects: AgentEffects;
  /** JSON-safe: with it the conversation goes on, here or in another process. */
  readonly state: SessionState;
  /** The run of the gate that holds the turns. */
  readonly runId: string;
  /** Things worth saying that are no error. */
  readonly notices: readonly string[];
}


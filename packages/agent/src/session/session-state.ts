import type { ApprovalQuestion, JsonSchema } from "@callgate/contract";
import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

/** What a model asks the user. */
export interface UserQuestion {
  readonly question: string;
  /** What an answer looks like. Absent: a text. */
  readonly schema?: JsonSchema;
}

/** A call that waits for a person, and the way on. */
export type WaitingCall =
  /** `program` is what the run executes: a call whose text was changed meanwhile is refused. */
  | { readonly kind: "approval"; readonly callId: string; readonly tool: string; readonly runId: string; readonly program: string; readonly questions: readonly Pick<ApprovalQuestion, "approvalId" | "tool" | "reason">[] }
  | { readonly kind: "question"; readonly callId: string; readonly tool: string; readonly question: UserQuestion };

/** A call of a turn whose answers are not complete yet. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  readonly answered?: { readonly part: LanguageModelV4ToolResultPart; readonly brief: string };
  readonly waiting?: WaitingCall;
}

/** What a task has used up of its budgets. */
export interface SpentBudget {
  readonly turns: number;
  readonly toolCalls: number;
  /** In and out. */
  readonly tokens: number;
  /** Millionths of a US dollar. */
  readonly microUsd: number;
}

/** A conversation, JSON-safe. It holds what the model was shown, in clear: keep it as you keep the data of the tools. */
export interface SessionState {
  readonly version: 1;
  readonly sessionId: string;
  /** Who has the word. */
  readonly agent: string;
  /** Without the system prompt, which is the agent's. */
  readonly messages: readonly LanguageModelV4Message[];
  /** What is left of a result once the history is too long, by call. */
  readonly briefs: Readonly<Record<string, string>>;
  /** Calls of the last message that wait, with their siblings. */
  readonly open: readonly OpenCall[];
  /** Tools that the model has chosen, in mode `select`. */
  readonly selected?: readonly string[];
  /** The task under way. */
  readonly task: string;
  /** By it, until now: going on with it does not begin its budgets anew. Absent: nothing. */
  readonly spent?: SpentBudget;
}


import type { EffectStatus, JsonObject, JsonSchema, JsonValue } from "@callgate/contract";
import type { AgentEffects, CallStatus } from "../agent-result.ts";
import type { AgentNews } from "../agent-event.ts";
import type { WaitingCall } from "../session/session-state.ts";

/** A picture that a call brought along, as the model can see it. */
export interface ShownFile {
  readonly mediaType: string;
  readonly base64: string;
}

/** What came of one call, for the model and for the loop. */
export interface CallAnswer {
  readonly status: CallStatus;
  readonly text: string;
  readonly effectStatus: EffectStatus;
  readonly runIds: readonly string[];
  /** What is left of it once the history is too long. Default: the text, cut. */
  readonly brief?: string;
  readonly files?: readonly ShownFile[];
  readonly effects?: AgentEffects;
  readonly microUsd?: number;
  readonly waiting?: WaitingCall;
  readonly handoff?: { readonly to: string; readonly context: JsonValue };
  /** It ends the task, with this as its output. */
  readonly final?: { readonly output: unknown };
  /** Tools that the model has chosen. */
  readonly selected?: readonly string[];
}

/** The call, and what it hears and tells while it goes on. */
export interface CallAt {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly emit: (news: AgentNews) => void;
}

/** One of the functions that the model is given. */
export interface AgentTool {
  /** Towards the model: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** How events and reports name it. */
  readonly tool: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly examples?: readonly JsonObject[];
  /** Never rejects for what a call can end in. */
  perform(input: Readonly<Record<string, unknown>>, at: CallAt): Promise<CallAnswer>;
}

/** A call of which nothing was begun. */
export function refused(status: Extract<CallStatus, "invalid" | "not_executed" | "cancelled">, text: string): CallAnswer {
  return { status, text, effectStatus: "none", runIds: [] };
}

/** A call that reads and is done. */
export function answered(text: string): CallAnswer {
  return { status: "ok", text, effectStatus: "none", runIds: [] };
}

import type { JsonValue } from "@callgate/contract";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentResult, EscalationAnswer } from "./agent-result.ts";
import type { SessionState } from "./session/session-state.ts";

export interface TaskOptions {
  readonly signal?: AbortSignal;
  /** Goes on with a saved conversation. */
  readonly state?: SessionState;
  /** Hears every event as it happens. Must not throw. */
  readonly onEvent?: (event: AgentEvent) => void;
}

export interface ResumeOptions extends Omit<TaskOptions, "state"> {
  /** What the user answers to questions, by the call that asked. */
  readonly answers?: Readonly<Record<string, JsonValue>>;
  /** What a person says to an escalation. */
  readonly escalation?: EscalationAnswer;
}

/** Events as they happen. To stop iterating cancels the run, and waits until it has ended. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentResult>;
}

/** A model with instructions, tools and limits. It holds no conversation: any number of tasks can go on at once. */
export interface Agent {
  readonly name: string;
  readonly description: string | undefined;
  /**
   * Carries a task to its end. What model, tools and people can do is in the result.
   *
   * Errors: `CallgateError` USAGE for a task that is no text, or a conversation that waits for a person; CLOSED.
   */
  run(task: string, options?: TaskOptions): Promise<AgentResult>;
  stream(task: string, options?: Omit<TaskOptions, "onEvent">): AgentStream;
  /**
   * Goes on with a conversation that waits: for an approval, which is looked up in the gate; for an answer of the user, or
   * to an escalation, which are given here. What still waits, waits on.
   *
   * Errors: `CallgateError` USAGE where nothing waits, or an answer does not match what was asked; nothing was done by then.
   */
  resume(state: SessionState, options?: ResumeOptions): Promise<AgentResult>;
}

import type { Lane } from "./checker.ts";
import type { CallOutcome } from "./outcome.ts";
import type { Principal } from "./principal.ts";
import type { ToolSpec } from "./tool-spec.ts";

/** A call as an interceptor sees it. It is the host's code: it sees clear values. Nothing of this can be changed. */
export interface InterceptedCall<Args = unknown> {
  /** Qualified name. */
  readonly tool: string;
  readonly namespace: string;
  readonly spec: ToolSpec;
  /** As the program wrote them, or as the interceptor before this one made them. They fit the tool's schema. */
  readonly args: Args;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly runId: string;
  readonly callId: string;
  /** The call undoes an earlier one: its answer goes nowhere. */
  readonly isUndo: boolean;
  /** The run is a rehearsal: a write is answered by a placeholder, and no stage may change anything either. */
  readonly isRehearsal: boolean;
  /** Aborted at the interceptor's deadline, and when the call is over. */
  readonly signal: AbortSignal;
}

/**
 * What comes of looking at a call. Nothing: it goes on as it is.
 *
 * - `transform`: it goes on with these arguments, which are validated and decided about again.
 * - `answer`: it ends with this value, which has to fit the output schema; the tool is not called, nothing is changed.
 * - `deny`: it does not happen.
 */
export type BeforeAnswer<Args = unknown, Output = unknown> =
  | { readonly kind: "transform"; readonly args: Args }
  | { readonly kind: "answer"; readonly value: Output }
  | { readonly kind: "deny"; readonly reason: string };

/** Another value in the place of a good answer's. It has to fit the output schema. */
export interface AfterAnswer<Output = unknown> {
  readonly kind: "replace";
  readonly value: Output;
}

type Maybe<Answer> = Answer | undefined | void;

/**
 * A stage of the host's own in the way of every call, programs and direct calls alike.
 *
 * - `before` runs after the policy let the call through (or would ask), before limits and before a person is asked, in the
 *   order in which interceptors are given. What was denied reaches none. One that throws, or does not answer in time, denies.
 * - `after` runs once the end of such a call is known, however it ended, in the reverse order; a call that was given up
 *   while it waits is none. One that throws fails the call with INTERCEPTOR_FAILED; what is known of the effect stays.
 *
 * A call that goes on after a pause, or after its process was lost, passes `before` again: give the same answer for the
 * same arguments.
 */
export interface Interceptor<Args = unknown, Output = unknown> {
  /** Letters, digits, `-` and `_`; it is in the record, and `interceptor:NAME` is the rule of what it denies. */
  readonly name: string;
  /** Patterns over qualified names, such as `crm.*`. Default: every tool. */
  readonly tools?: string | readonly string[];
  /** How long each of its two stages may take. Default 5,000. */
  readonly timeoutMs?: number;
  before?(call: InterceptedCall<Args>): Promise<Maybe<BeforeAnswer<Args, Output>>> | Maybe<BeforeAnswer<Args, Output>>;
  after?(call: InterceptedCall<Args>, outcome: CallOutcome): Promise<Maybe<AfterAnswer<Output>>> | Maybe<AfterAnswer<Output>>;
}

/** What an interceptor did with a call. `failed`: it threw, gave nonsense, or did not answer in time. */
export type InterceptedHow = "transformed" | "answered" | "denied" | "replaced" | "failed";

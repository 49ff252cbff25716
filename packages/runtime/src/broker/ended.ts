import type { CallError, CallOutcome, Effect, EffectStatus, JsonObject, OutcomeKind } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";

export interface EndedInit {
  readonly outcome: Exclude<OutcomeKind, "ok">;
  readonly code: string;
  readonly tool: string;
  /** What happened; what took effect is added by `withEffect`. */
  readonly message: string;
  readonly effectStatus?: EffectStatus;
  readonly retryable?: boolean;
  readonly path?: string;
  readonly details?: JsonObject;
  readonly attempts?: number;
}

/** A call's end that is not `ok`. Left out, nothing was changed and repeating it does not help. */
export function ended(init: EndedInit): Ended {
  const error: CallError = {
    code: init.code,
    message: init.message,
    tool: init.tool,
    retryable: init.retryable ?? false,
    ...(init.path === undefined ? {} : { path: init.path }),
    ...(init.details === undefined ? {} : { details: init.details }),
  };
  return { kind: "ended", outcome: { kind: init.outcome, effectStatus: init.effectStatus ?? "none", error }, cached: false, attempts: init.attempts ?? 0 };
}

/** The message of an error, and what its reader must know about the world. A read changes nothing, so nothing is said. */
export function withEffect(message: string, effect: Effect, status: EffectStatus): string {
  if (effect === "read") return message;
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  switch (status) {
    case "none":
      return `${sentence} Nothing was changed.`;
    case "done":
      return `${sentence} The change itself took effect; do not repeat the call.`;
    case "unknown":
      return `${sentence} Whether the change took effect is not known: find out with a read before calling again.`;
  }
}

/** The same answer or error with another word on what became of the world. The value is made when it is asked for. */
export function withStatus(outcome: CallOutcome, effectStatus: EffectStatus): CallOutcome {
  if (outcome.kind !== "ok") return { ...outcome, effectStatus };
  return { kind: "ok", effectStatus, artifacts: outcome.artifacts, get value() { return outcome.value; } };
}

/** A repetition that did not come to a good end does not lift the doubt about the first try. */
export function inDoubtStill<End extends Ended | ParkedCall>({ effect }: Pick<ReadyCall, "effect">, end: End): End {
  if (end.kind !== "ended" || end.outcome.kind === "ok" || end.outcome.effectStatus !== "none") return end;
  const { error } = end.outcome;
  return { ...end, outcome: { ...end.outcome, effectStatus: "unknown", error: { ...error, message: withEffect(error.message.replace(" Nothing was changed.", ""), effect, "unknown") } } };
}

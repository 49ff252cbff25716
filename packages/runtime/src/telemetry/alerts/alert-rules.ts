/** What an alert is about. `of`: what is counted apart; each has alerts of its own. */
export type AlertKind =
  /** Calls that ran into their deadline, of a source. */
  | "timeouts"
  /** The share of calls that failed, of a source. */
  | "failures"
  /** Calls that were denied, of a principal. */
  | "denials"
  /** Calls over a limit, a budget, or refused by a circuit breaker, of a source. */
  | "limits"
  /** A question that nobody answers. */
  | "approvals"
  /** An argument unlike those its tool was called with before. */
  | "parameters"
  /** More calls than usual whose arguments or results do not match their schema, of a tool. */
  | "validation";

export interface AlertRule {
  readonly id: string;
  readonly kind: AlertKind;
  /**
   * `timeouts`, `denials`, `limits`: so many calls. `failures`: the share, 0 to 1. `approvals`: minutes. `validation`: so many
   * times the usual rate. `parameters`: calls that are looked at before any is judged.
   */
  readonly over: number;
  /** How far back is looked. Not for `approvals` and `parameters`. */
  readonly withinMinutes: number;
  /** Fewer calls than this say nothing about a rate. */
  readonly atLeast: number;
}

export const defaultAlertRules: readonly AlertRule[] = [
  { id: "timeouts", kind: "timeouts", over: 5, withinMinutes: 10, atLeast: 1 },
  { id: "failures", kind: "failures", over: 0.5, withinMinutes: 10, atLeast: 10 },
  { id: "denials", kind: "denials", over: 10, withinMinutes: 10, atLeast: 1 },
  { id: "limits", kind: "limits", over: 20, withinMinutes: 10, atLeast: 1 },
  { id: "approvals", kind: "approvals", over: 60, withinMinutes: 0, atLeast: 1 },
  { id: "parameters", kind: "parameters", over: 50, withinMinutes: 0, atLeast: 1 },
  { id: "validation", kind: "validation", over: 3, withinMinutes: 10, atLeast: 5 },
];

/** Something a person should look at. Holds names, codes and numbers; of an argument its place, never its value. */
export interface Alert {
  readonly ruleId: string;
  readonly kind: AlertKind;
  readonly atMs: number;
  /** The source, tool, principal or question it is about. */
  readonly subject: string;
  readonly message: string;
  readonly value: number;
  readonly threshold: number;
  /** The last call or question that made it one. */
  readonly runId?: string;
  readonly callId?: string;
}

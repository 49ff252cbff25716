/** What a metric is: a row of docs/guide/monitoring.md, which is printed from this file. */
export interface MetricDefinition {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Names of its labels. Their values are names and codes, never arguments or results. */
  readonly labels: readonly string[];
}

/** Upper bounds in seconds: from a function in this process to a person or a slow service. */
export const durationBucketsSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

/**
 * Every metric of a gate. Names and labels are pinned by test. No metric has both a tool and a principal: the number of
 * series is the sum of the two, not their product.
 */
export const metricDefinitions = {
  callgate_calls_total: { kind: "counter", help: "Calls that ended, by outcome", labels: ["source", "tool", "outcome"] },
  callgate_call_duration_seconds: { kind: "histogram", help: "How long calls took, without the time people took to answer", labels: ["source", "tool"] },
  callgate_principal_calls_total: { kind: "counter", help: "Calls that ended, by who they were for", labels: ["tenant", "user", "outcome"] },
  callgate_retries_total: { kind: "counter", help: "Attempts after the first", labels: ["source", "tool"] },
  callgate_decisions_total: { kind: "counter", help: "Decisions of the policy, by the rule that made them", labels: ["decision", "rule"] },
  callgate_denials_total: { kind: "counter", help: "Calls that were denied, by a rule, by a person, or because nobody could be asked", labels: ["source", "tool", "code"] },
  callgate_limit_violations_total: { kind: "counter", help: "Calls that a limit, a budget or a circuit breaker refused", labels: ["source", "tool", "code"] },
  callgate_validation_failures_total: { kind: "counter", help: "Calls whose arguments or results did not match their schema", labels: ["source", "tool", "side"] },
  callgate_unknown_effects_total: { kind: "counter", help: "Writes that ended without anybody knowing whether they took effect", labels: ["source", "tool"] },
  callgate_approvals_asked_total: { kind: "counter", help: "Questions to people", labels: ["source", "tool"] },
  callgate_grants_used_total: { kind: "counter", help: "Calls that a standing grant let through without a question", labels: ["source", "tool"] },
  callgate_approvals_answered_total: { kind: "counter", help: "Answers of people; refused ones did not count", labels: ["answer"] },
  callgate_approvals_waiting: { kind: "gauge", help: "Questions in the journal that nobody has answered, whichever process asked them; NaN while it cannot be read", labels: [] },
  callgate_approvals_oldest_seconds: { kind: "gauge", help: "How long the oldest of them has waited; NaN while the journal cannot be read", labels: [] },
  callgate_runs_total: { kind: "counter", help: "Runs that ended, by status", labels: ["status"] },
  callgate_run_duration_seconds: { kind: "histogram", help: "How long runs took", labels: [] },
  callgate_checks_total: { kind: "counter", help: "Checks of programs: ok or rejected", labels: ["result"] },
  callgate_source_ready: { kind: "gauge", help: "1 while a source answers, else 0", labels: ["source"] },
  callgate_circuit_open: { kind: "gauge", help: "1 from when a source that kept failing is left alone until it answers again, else 0", labels: ["source"] },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof metricDefinitions;

type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof metricDefinitions)[Name]["labels"][number], string>>;

/** Takes one observation: adds to a counter, sets a gauge, or observes in a histogram. */
export type Observe = <Name extends MetricName>(name: Name, labels: LabelsOf<Name>, value: number) => void;

import type { PendingApproval } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../../lib/at-most.ts";
import type { Alert, AlertRule } from "./alert-rules.ts";
import type { Observation } from "./observation.ts";
import { createParameterProfile } from "./parameter-profile.ts";
import type { ParameterProfile } from "./parameter-profile.ts";

/** Says what a person should look at. Pure: time comes with what is observed. */
export interface AlertEngine {
  /** In the order it happened. `quiet`: it is learned from, and nothing is said of it. */
  observe(observation: Observation, quiet?: boolean): readonly Alert[];
  /** Questions that are open now. */
  waiting(pending: readonly PendingApproval[], nowMs: number): readonly Alert[];
}

/** Sources, tools and principals that are counted apart; of more the least used are forgotten. */
const maxSubjects = 5_000;
/** Ends of a subject that are remembered: with more in the window, the last of them stand for it. */
const maxEnds = 2_000;
/** What was said is said again after this time, if it still holds. */
const repeatMs = 60 * 60_000;

type Ended = Extract<Observation, { kind: "ended" }>;

export function createAlertEngine(rules: readonly AlertRule[]): AlertEngine {
  const windows = new LRUCache<string, Window>(atMost(maxSubjects));
  const profiles = new LRUCache<string, { readonly profile: ParameterProfile; calls: number }>(atMost(maxSubjects));
  const said = new LRUCache<string, number>(atMost(maxSubjects * 4));

  /** Undefined when it was said not long ago. */
  function tell(rule: AlertRule, alert: Omit<Alert, "ruleId" | "kind">): readonly Alert[] {
    const key = JSON.stringify([rule.id, alert.subject]);
    const before = said.get(key);
    if (before !== undefined && alert.atMs - before < repeatMs) return [];
    said.set(key, alert.atMs);
    return [{ ruleId: rule.id, kind: rule.kind, ...alert }];
  }

  function windowOf(subject: string): Window {
    let window = windows.get(subject);
    if (window === undefined) windows.set(subject, (window = createWindow()));
    return window;
  }

  function ended(observation: Ended, quiet: boolean): readonly Alert[] {
    const { tool, principal, outcome, atMs, runId, callId } = observation;
    const subjects = { source: tool.split(".")[0] ?? tool, tool, principal: `${principal.tenant}/${principal.user}` };
    for (const [kind, name] of Object.entries(subjects)) windowOf(`${kind} ${name}`).add(atMs, outcome);
    if (quiet) return [];
    return rules.flatMap((rule) => {
      const measure = measures[rule.kind];
      if (measure === undefined || measure.counts?.includes(outcome) === false) return [];
      const name = subjects[measure.of];
      const value = measure.value(windowOf(`${measure.of} ${name}`), { sinceMs: atMs - rule.withinMinutes * 60_000, atLeast: rule.atLeast });
      return value < rule.over ? [] : tell(rule, { atMs, subject: name, value, threshold: rule.over, message: measure.message(name, value, rule), runId, callId });
    });
  }

  function asked({ tool, args, atMs, runId, callId }: Extract<Observation, { kind: "asked" }>, quiet: boolean): readonly Alert[] {
    let kept = profiles.get(tool);
    if (kept === undefined) profiles.set(tool, (kept = { profile: createParameterProfile(), calls: 0 }));
    kept.calls += 1;
    const { calls, profile } = kept;
    const rule = rules.find(({ kind }) => kind === "parameters");
    const odd = profile.look(args, rule?.over ?? Number.POSITIVE_INFINITY);
    if (quiet || rule === undefined) return [];
    return odd.flatMap(({ path, what }) => tell(rule, { atMs, subject: `${tool} ${path}`, value: calls, threshold: rule.over, message: `${tool} was called with ${what} at ${path === "" ? "its arguments" : path}, unlike ${calls - 1} calls before`, runId, callId }));
  }

  return {
    observe: (observation, quiet = false) => (observation.kind === "asked" ? asked(observation, quiet) : ended(observation, quiet)),
    waiting: (pending, nowMs) =>
      rules.flatMap((rule) => {
        if (rule.kind !== "approvals") return [];
        return pending.flatMap(({ question: { approvalId, tool, runId, callId }, askedAtMs }) => {
          const minutes = Math.floor((nowMs - askedAtMs) / 60_000);
          return minutes < rule.over ? [] : tell(rule, { atMs: nowMs, subject: approvalId, value: minutes, threshold: rule.over, message: `Nobody has answered ${approvalId} (${tool}) for ${minutes} minutes`, runId, callId });
        });
      }),
  };
}

type Outcome = Ended["outcome"];

interface Measure {
  readonly of: "source" | "tool" | "principal";
  /** Outcomes that can make it an alert. Absent: any, for it is a share of all. */
  readonly counts?: readonly Outcome[];
  value(window: Window, within: { readonly sinceMs: number; readonly atLeast: number }): number;
  message(name: string, value: number, rule: AlertRule): string;
}

const bad: readonly Outcome[] = ["failed", "timed_out", "invalid_output"];
const invalid: readonly Outcome[] = ["invalid_input", "invalid_output"];

const counting = (of: Measure["of"], outcome: Outcome, words: (name: string) => string): Measure => ({
  of,
  counts: [outcome],
  value: (window, { sinceMs }) => window.count(sinceMs, [outcome]),
  message: (name, value, { withinMinutes }) => `${value} ${words(name)} within ${withinMinutes} minutes`,
});

const measures: Partial<Record<AlertRule["kind"], Measure>> = {
  timeouts: counting("source", "timed_out", (name) => `calls of ${name} ran into their deadline`),
  denials: counting("principal", "denied", (name) => `calls of ${name} were denied`),
  limits: counting("source", "limit_exceeded", (name) => `calls of ${name} were over a limit`),
  failures: {
    of: "source",
    value(window, { sinceMs, atLeast }) {
      const all = window.count(sinceMs);
      return all < atLeast ? 0 : window.count(sinceMs, bad) / all;
    },
    message: (name, value, { withinMinutes }) => `${Math.round(value * 100)} % of the calls of ${name} failed within ${withinMinutes} minutes`,
  },
  validation: {
    of: "tool",
    value(window, { sinceMs, atLeast }) {
      const [now, wrong, before] = [window.count(sinceMs), window.count(sinceMs, invalid), window.before(sinceMs)];
      if (wrong < atLeast || before.all < usualCalls) return 0;
      // Where none was ever wrong, one in a hundred is what would be usual.
      return wrong / now / Math.max(0.01, before.of(invalid) / before.all);
    },
    message: (name, value, { withinMinutes }) => `Calls of ${name} did not match its schema ${value.toFixed(1)} times as often as usual within ${withinMinutes} minutes`,
  },
};

/** What is usual is known from so many calls on. */
const usualCalls = 50;

interface Window {
  add(atMs: number, outcome: Outcome): void;
  count(sinceMs: number, outcomes?: readonly Outcome[]): number;
  /** All there ever was, without what is in the window. */
  before(sinceMs: number): { readonly all: number; of(outcomes: readonly Outcome[]): number };
}

function createWindow(): Window {
  const ends: { readonly atMs: number; readonly outcome: Outcome }[] = [];
  const ever = new Map<Outcome, number>();
  const count: Window["count"] = (sinceMs, outcomes) => ends.reduce((sum, { atMs, outcome }) => sum + (atMs >= sinceMs && outcomes?.includes(outcome) !== false ? 1 : 0), 0);
  const everOf = (outcomes?: readonly Outcome[]): number => [...ever].reduce((sum, [outcome, n]) => sum + (outcomes?.includes(outcome) === false ? 0 : n), 0);
  return {
    add(atMs, outcome) {
      ends.push({ atMs, outcome });
      if (ends.length > maxEnds) ends.splice(0, maxEnds / 2);
      ever.set(outcome, (ever.get(outcome) ?? 0) + 1);
    },
    count,
    before: (sinceMs) => ({ all: everOf() - count(sinceMs), of: (outcomes) => everOf(outcomes) - count(sinceMs, outcomes) }),
  };
}

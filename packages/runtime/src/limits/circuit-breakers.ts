import { CallgateError } from "@callgate/contract";
import type { CircuitBreaker, CircuitView } from "@callgate/contract";
import { CircuitState, circuitBreaker, ConsecutiveBreaker, handleWhenResult } from "cockatiel";
import { segmentMatches, segmentProblem } from "../lib/name-glob.ts";
import { assertWhole } from "./limit-rules.ts";

/** How an attempt at a source came out, for its breaker. `unknown`: it was given up before anybody could tell. */
export type Verdict = "answered" | "fault" | "unknown";

/** `open`: it was not made. */
export type Attempted<Value> = { readonly kind: "made"; readonly value: Value } | { readonly kind: "open"; readonly retryAfterMs: number };

/** Leaves sources alone for a while that failed several times in a row. */
export interface CircuitBreakers {
  /** When the source may be tried again; undefined: now. */
  retryAfterMs(namespace: string): number | undefined;
  /** Makes an attempt, unless the circuit is open. */
  attempt<Value>(namespace: string, work: () => Promise<Value>, judge: (value: Value) => Verdict): Promise<Attempted<Value>>;
  /** Undefined: closed. */
  view(namespace: string): CircuitView | undefined;
}

/** Hears of every change. Must not throw. */
export type CircuitListener = (namespace: string, state: CircuitView["state"] | "closed", retryAfterMs?: number) => void;

/** How long others are told to wait while one call tries the source again. */
const probeMs = 1_000;

const dayMs = 86_400_000;

/** Undefined where there is none. Time is the host's. Errors: `CallgateError` USAGE. */
export function createCircuitBreakers(given: CircuitBreaker | undefined, told: CircuitListener): CircuitBreakers | undefined {
  if (given === undefined) return undefined;
  const { failures, openMs, sources = "*" } = given;
  assertWhole("circuitBreaker.failures", failures, [1, 1e6]);
  assertWhole("circuitBreaker.openMs", openMs, [100, dayMs]);
  const patterns = typeof sources === "string" ? [sources] : sources;
  for (const pattern of patterns) {
    const problem = segmentProblem(pattern);
    if (problem !== undefined) throw new CallgateError("USAGE", `circuitBreaker.sources: "${pattern}" ${problem}`);
  }
  const circuits = new Map<string, Circuit>();

  function circuitOf(namespace: string): Circuit | undefined {
    const known = circuits.get(namespace);
    if (known !== undefined || !patterns.some((pattern) => segmentMatches(pattern, namespace))) return known;
    const circuit = createCircuit({ failures, openMs }, (state, retryAfterMs) => told(namespace, state, retryAfterMs));
    circuits.set(namespace, circuit);
    return circuit;
  }

  return {
    retryAfterMs: (namespace) => circuitOf(namespace)?.retryAfterMs(),
    async attempt(namespace, work, judge) {
      const circuit = circuitOf(namespace);
      return circuit === undefined ? { kind: "made", value: await work() } : await circuit.attempt(work, judge);
    },
    view: (namespace) => circuits.get(namespace)?.view(),
  };
}

interface Circuit {
  retryAfterMs(): number | undefined;
  attempt<Value>(work: () => Promise<Value>, judge: (value: Value) => Verdict): Promise<Attempted<Value>>;
  view(): CircuitView | undefined;
}

/** Ends an attempt for the library so that it counts neither as good nor as bad. */
class NoVerdict extends Error {}

function createCircuit({ failures, openMs }: Pick<CircuitBreaker, "failures" | "openMs">, told: (state: CircuitView["state"] | "closed", retryAfterMs?: number) => void): Circuit {
  let openUntilMs = 0;
  const policy = circuitBreaker(handleWhenResult((verdict) => verdict === "fault"), { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failures) });
  policy.onBreak(() => {
    openUntilMs = Date.now() + openMs;
    told("open", openMs);
  });
  policy.onHalfOpen(() => told("half_open"));
  policy.onReset(() => told("closed"));

  function retryAfterMs(): number | undefined {
    if (policy.state === CircuitState.Closed) return undefined;
    if (policy.state === CircuitState.HalfOpen) return probeMs;
    const left = openUntilMs - Date.now();
    return left > 0 ? left : undefined;
  }

  return {
    retryAfterMs,
    view: () => (policy.state === CircuitState.Closed ? undefined : { state: policy.state === CircuitState.HalfOpen ? "half_open" : "open", retryAfterMs: retryAfterMs() ?? 0 }),
    async attempt<Value>(work: () => Promise<Value>, judge: (value: Value) => Verdict): Promise<Attempted<Value>> {
      // Those who come while one call tries do not wait for it.
      const left = retryAfterMs();
      if (left !== undefined) return { kind: "open", retryAfterMs: left };
      const isTrial = policy.state !== CircuitState.Closed;
      const made: { value: Value }[] = [];
      try {
        await policy.execute(async () => {
          const value = await work();
          made.push({ value });
          const verdict = judge(value);
          if (verdict !== "unknown") return verdict;
          // A trial that was given up has not shown that the source is well.
          if (isTrial) return "fault";
          throw new NoVerdict();
        });
      } catch (error) {
        if (!(error instanceof NoVerdict)) throw error;
      }
      const [only] = made;
      if (only === undefined) throw new CallgateError("ASSERTION", "An attempt ended without an end");
      return { kind: "made", value: only.value };
    },
  };
}

import type { JsonValue } from "@callgate/contract";
import { leavesOf } from "../../provenance/leaves.ts";
import { isTelling } from "../../provenance/origin-index.ts";
import type { CallSession, SessionStep } from "./call-sessions.ts";
import { shapeOf } from "./chain-shape.ts";
import type { ChainShape, ShapedChain } from "./chain-shape.ts";

/** One time that a chain was called. */
export interface ChainOccurrence {
  readonly kind: CallSession["kind"];
  readonly steps: readonly SessionStep[];
  /** Of its inputs, in their order. */
  readonly values: readonly JsonValue[];
  /** Inputs whose value nobody may be shown. */
  readonly sensitive: readonly number[];
}

/** Calls that come again and again with other inputs. */
export interface FoundChain {
  readonly shape: ChainShape;
  readonly occurrences: readonly ChainOccurrence[];
}

export interface FindChainsOptions {
  /** How often a chain has to come. */
  readonly minTimes: number;
  /** At most so many, those that save most calls first. */
  readonly limit: number;
}

/** Calls of one chain. Longer ones are rarely repeated, and looking for them costs more. */
const maxSteps = 8;

/** Arguments that are larger have parts that are not looked at. */
const leafBounds = { maxLeaves: 2_000, maxChars: 256 * 1024 };

interface Seen extends Pick<ShapedChain, "values" | "sensitive"> {
  readonly session: number;
  readonly places: readonly number[];
}

interface Candidate {
  readonly shape: ChainShape;
  readonly found: Seen[];
}

/**
 * Chains of calls that hang together by their values and come at least `minTimes`, not always with the same inputs. No call is in
 * two of them: those that save most calls are taken first.
 */
export function findChains(sessions: readonly CallSession[], { minTimes, limit }: FindChainsOptions): readonly FoundChain[] {
  let candidates = [...candidatesIn(sessions).values()].filter(({ found }) => found.length >= minTimes);
  const used = new Set<string>();
  const chains: FoundChain[] = [];
  while (chains.length < limit) {
    candidates = candidates.map(({ shape, found }) => ({ shape, found: withoutOverlaps(found, used) })).filter(({ found }) => found.length >= minTimes && new Set(found.map(({ values }) => JSON.stringify(values))).size > 1);
    const [best, ...others] = candidates.sort((a, b) => callsSaved(b) - callsSaved(a) || b.shape.steps.length - a.shape.steps.length);
    if (best === undefined) break;
    for (const { session, places } of best.found) for (const place of places) used.add(`${session}.${place}`);
    chains.push({ shape: best.shape, occurrences: best.found.map((seen) => occurrenceOf(sessions[seen.session], seen)) });
    candidates = others;
  }
  return chains;
}

function callsSaved({ shape, found }: Candidate): number {
  return found.length * (shape.steps.length - 1);
}

function occurrenceOf(session: CallSession | undefined, { places, values, sensitive }: Seen): ChainOccurrence {
  return { kind: session?.kind ?? "call", steps: places.flatMap((place) => session?.steps[place] ?? []), values, sensitive };
}

function candidatesIn(sessions: readonly CallSession[]): ReadonlyMap<string, Candidate> {
  const byShape = new Map<string, Candidate>();
  for (const [session, { steps }] of sessions.entries()) {
    for (const places of connected(steps)) {
      for (let start = 0; start < places.length - 1; start += 1) {
        for (let length = 2; length <= maxSteps && start + length <= places.length; length += 1) {
          const window = places.slice(start, start + length);
          const both = (["place", "input"] as const).map((choosing) => shapeOf(steps, window, { choosing }));
          // A call that has nothing of those before it has nothing of them in a longer window either.
          if (both[0] === undefined) break;
          for (const [key, { shape, values, sensitive }] of new Map(both.flatMap((one) => (one === undefined ? [] : [[JSON.stringify(one.shape), one] as const])))) {
            const seen: Seen = { session, places: window, values, sensitive };
            const known = byShape.get(key);
            if (known === undefined) byShape.set(key, { shape, found: [seen] });
            else known.found.push(seen);
          }
        }
      }
    }
  }
  return byShape;
}

/** Steps that hang together by values, each group in its order: what somebody did in between does not count. */
function connected(steps: readonly SessionStep[]): readonly (readonly number[])[] {
  const groupOf = steps.map((_step, index) => index);
  const rootOf = (place: number): number => (groupOf[place] === place || groupOf[place] === undefined ? place : rootOf(groupOf[place]));
  const join = (a: number, b: number): void => void (groupOf[Math.max(rootOf(a), rootOf(b))] = Math.min(rootOf(a), rootOf(b)));
  const firstWith = new Map<string, number>();
  for (const [place, { flows }] of steps.entries()) {
    for (const flow of flows.values()) for (const { step } of flow) join(step, place);
    // Two that were given one value.
    for (const leaf of leavesOf(steps[place]?.args, leafBounds).leaves) {
      if (!isTelling(leaf)) continue;
      join(firstWith.get(leaf.text) ?? place, place);
      if (!firstWith.has(leaf.text)) firstWith.set(leaf.text, place);
    }
  }
  return [...Map.groupBy(steps.keys(), rootOf).values()];
}

/** Of windows that share a call, the first; none of a call that another chain has. */
function withoutOverlaps(found: readonly Seen[], used: ReadonlySet<string>): Seen[] {
  const mine = new Set<string>();
  return found.filter(({ session, places }) => {
    const keys = places.map((place) => `${session}.${place}`);
    if (keys.some((key) => used.has(key) || mine.has(key))) return false;
    for (const key of keys) mine.add(key);
    return true;
  });
}

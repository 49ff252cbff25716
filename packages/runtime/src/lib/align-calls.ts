import type { Digest } from "@callgate/contract";
import { diffArrays } from "diff";

interface Aligned {
  readonly tool: string;
  readonly argsDigest: Digest;
}

/** A call of one list and its counterpart in another; either may have none. */
export type CallPair<Call> = readonly [one: Call | undefined, other: Call | undefined];

/** More differences than this are not looked at for the best way to pair: time and memory grow with their square. */
const maxEdits = 1_000;

/**
 * Which call of one list is which of another, keeping both orders: calls with the same tool and arguments belong together;
 * between two such, what is left belongs together by tool. Of lists that have little in common not as many are paired as could be.
 * Cost: O((ones + others) × 1,000) at most.
 */
export function alignCalls<Call extends Aligned>(ones: readonly Call[], others: readonly Call[]): readonly CallPair<Call>[] {
  const same = ({ tool, argsDigest }: Call): string => `${tool} ${argsDigest}`;
  return align(ones, others, same).flatMap((part) => (part.kind === "pairs" ? part.pairs : align(part.ones, part.others, ({ tool }) => tool).flatMap((inner) => (inner.kind === "pairs" ? inner.pairs : alone(inner)))));
}

type Part<Call> = { readonly kind: "pairs"; readonly pairs: readonly CallPair<Call>[] } | Alone<Call>;

interface Alone<Call> {
  readonly kind: "alone";
  readonly ones: readonly Call[];
  readonly others: readonly Call[];
}

function alone<Call>({ ones, others }: Alone<Call>): readonly CallPair<Call>[] {
  return [...ones.map((one): CallPair<Call> => [one, undefined]), ...others.map((other): CallPair<Call> => [undefined, other])];
}

/** Both lists in their order, as pairs and what lies between two of them. */
function align<Call>(ones: readonly Call[], others: readonly Call[], keyOf: (call: Call) => string): readonly Part<Call>[] {
  const [a, b] = [ones.map(keyOf), others.map(keyOf)];
  const changes = diffArrays(a, b, { maxEditLength: maxEdits });
  const places = changes === undefined ? firstPlaces(a, b) : equalPlaces(changes);
  const parts: Part<Call>[] = [];
  let [atOne, atOther] = [0, 0];
  for (const [one, other] of [...places, [ones.length, others.length] as const]) {
    if (one > atOne || other > atOther) parts.push({ kind: "alone", ones: ones.slice(atOne, one), others: others.slice(atOther, other) });
    if (one < ones.length && other < others.length) parts.push({ kind: "pairs", pairs: [[ones[one], others[other]]] });
    [atOne, atOther] = [one + 1, other + 1];
  }
  return parts;
}

type Places = readonly (readonly [one: number, other: number])[];

function equalPlaces(changes: ReturnType<typeof diffArrays<string>>): Places {
  const places: (readonly [number, number])[] = [];
  let [one, other] = [0, 0];
  for (const { value, added, removed } of changes) {
    for (const _key of value) {
      if (added) other += 1;
      else if (removed) one += 1;
      else places.push([one++, other++]);
    }
  }
  return places;
}

/** Each with the first equal one after the last pair. */
function firstPlaces(a: readonly string[], b: readonly string[]): Places {
  const where = Map.groupBy(b.keys(), (index) => b[index]);
  const passed = new Map<string, number>();
  const places: (readonly [number, number])[] = [];
  let next = 0;
  for (const [index, key] of a.entries()) {
    const all = where.get(key) ?? [];
    let at = passed.get(key) ?? 0;
    while (at < all.length && (all[at] ?? 0) < next) at += 1;
    passed.set(key, at + 1);
    const found = all[at];
    if (found === undefined) continue;
    places.push([index, found]);
    next = found + 1;
  }
  return places;
}

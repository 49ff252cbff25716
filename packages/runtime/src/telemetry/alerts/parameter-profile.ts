import type { JsonValue } from "@callgate/contract";
import { escapePointer } from "../../lib/json-pointer.ts";

/** How an argument differs from those before. */
export interface Oddity {
  /** JSON Pointer; places in lists are one. */
  readonly path: string;
  readonly what: "a number outside of the range so far" | "a value that never came before" | "a text of an unusual length";
}

/** What the arguments of one tool were like. */
export interface ParameterProfile {
  /** Holds arguments against those before, then counts them among them. */
  look(args: JsonValue, calls: number): readonly Oddity[];
}

const maxPaths = 100;
/** Values of an argument that are remembered; of more a sample, so that what changes over months moves the range. */
const maxSample = 1_000;
/** An argument with at most so many different texts is a choice among them; one with more is free text. */
const maxChoices = 20;
/** The share of values at either end that does not make the range. */
const tail = 0.001;
/** An argument that sets a new record this often counts up, like an id or a time; a range says nothing about it. */
const countingShare = 0.2;

/** The range is made anew after so many values. */
const rangeEvery = 20;

interface Numbers {
  readonly sample: number[];
  seen: number;
  /** How often a value was greater than all before it. */
  records: number;
  greatest: number;
  range: { readonly low: number; readonly high: number } | undefined;
}

interface Place {
  readonly numbers: Numbers;
  readonly lengths: Numbers;
  /** Undefined once there were too many. */
  choices: Set<string> | undefined;
}

export function createParameterProfile(): ParameterProfile {
  const places = new Map<string, Place>();

  function placeOf(path: string): Place | undefined {
    let place = places.get(path);
    if (place === undefined && places.size < maxPaths) places.set(path, (place = { numbers: noNumbers(), lengths: noNumbers(), choices: new Set() }));
    return place;
  }

  return {
    look(args, needed) {
      const odd: Oddity[] = [];
      eachValue(args, "", (path, value) => {
        const place = placeOf(path);
        if (place === undefined) return;
        const what = typeof value === "number" ? oddNumber(place.numbers, value, needed) && "a number outside of the range so far" : oddText(place, value, needed);
        if (what !== undefined && what !== false) odd.push({ path, what });
        count(place, value);
      });
      return odd;
    },
  };
}

function noNumbers(): Numbers {
  return { sample: [], seen: 0, records: 0, greatest: Number.NEGATIVE_INFINITY, range: undefined };
}

function oddText({ choices, lengths }: Place, text: string, needed: number): Oddity["what"] | undefined {
  if (lengths.seen < needed) return undefined;
  if (choices !== undefined) return choices.has(text) ? undefined : "a value that never came before";
  return oddNumber(lengths, text.length, needed) ? "a text of an unusual length" : undefined;
}

function oddNumber(numbers: Numbers, value: number, needed: number): boolean {
  const { sample, seen, records } = numbers;
  if (seen < needed || records > seen * countingShare) return false;
  numbers.range ??= rangeOf(sample);
  return value < numbers.range.low || value > numbers.range.high;
}

function rangeOf(sample: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = sample.toSorted((a, b) => a - b);
  const cut = Math.floor(sorted.length * tail);
  return { low: sorted[cut] ?? Number.NEGATIVE_INFINITY, high: sorted[sorted.length - 1 - cut] ?? Number.POSITIVE_INFINITY };
}

function count(place: Place, value: string | number): void {
  if (typeof value === "number") return keep(place.numbers, value);
  keep(place.lengths, value.length);
  place.choices?.add(value);
  if ((place.choices?.size ?? 0) > maxChoices) place.choices = undefined;
}

/** Each value has the same chance to be in the sample; which one goes is told by how many there were, so that it repeats. */
function keep(numbers: Numbers, value: number): void {
  const { sample } = numbers;
  numbers.seen += 1;
  if (value > numbers.greatest) {
    if (numbers.seen > 1) numbers.records += 1;
    numbers.greatest = value;
  }
  if (sample.length < maxSample) sample.push(value);
  else sample[(numbers.seen * 7_919) % maxSample] = value;
  if (numbers.seen % rangeEvery === 0) numbers.range = undefined;
}

/** The texts and numbers of a summary; items of a list are one place. */
function eachValue(value: JsonValue, path: string, tell: (path: string, value: string | number) => void): void {
  if (typeof value === "string" || typeof value === "number") return tell(path, value);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) for (const item of value) eachValue(item as JsonValue, `${path}/*`, tell);
  else for (const [key, item] of Object.entries(value)) eachValue(item as JsonValue, `${path}/${escapePointer(key)}`, tell);
}

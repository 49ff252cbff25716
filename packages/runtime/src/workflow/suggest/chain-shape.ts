import type { JsonObject, JsonValue } from "@callgate/contract";
import { escapePointer, unescapePointer } from "../../lib/json-pointer.ts";
import { isPlainObject } from "../../lib/is-plain-object.ts";
import { isTelling } from "../../provenance/origin-index.ts";
import type { SessionStep } from "./call-sessions.ts";

/** What stands at a place of a call's arguments, whatever it was this time. */
export type Template =
  | { readonly kind: "input"; readonly input: number }
  | { readonly kind: "answer"; readonly step: number; readonly path: string }
  | { readonly kind: "constant"; readonly value: boolean | null }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "object"; readonly properties: readonly (readonly [string, Template])[] };

export interface ChainStep {
  readonly tool: string;
  readonly args: Template;
}

/** Calls with the values taken out: equal for calls that are the same but for their inputs. */
export interface ChainShape {
  readonly steps: readonly ChainStep[];
  /** Names for the inputs, from where they stand first. */
  readonly inputs: readonly string[];
}

/** A shape, and the inputs that this time made these calls of it. */
export interface ShapedChain {
  readonly shape: ChainShape;
  readonly values: readonly JsonValue[];
  /** Inputs whose value nobody may be shown: never a part of a program. */
  readonly sensitive: readonly number[];
}

interface Shaping {
  readonly values: JsonValue[];
  readonly names: string[];
  readonly sensitive: number[];
  /** Inputs that are told from others by their value. */
  readonly known: Map<string, number>;
  readonly choosing: "place" | "input";
  readonly steps: readonly SessionStep[];
  /** Places in the session of the steps. */
  readonly places: readonly number[];
  /** Steps that have something of an earlier one. */
  readonly linked: Set<number>;
}

/**
 * Takes the values out of calls: an argument that is an input already stands for that, one that an answer before it has
 * stands for the place in that answer, the others are inputs. Undefined where a call after the first has nothing of those
 * before it: they are not one chain.
 *
 * @param choosing what an item of a list in an answer is: the one at its `place`, or an `input`, for somebody chose it
 */
export function shapeOf(session: readonly SessionStep[], places: readonly number[], { choosing }: { readonly choosing: "place" | "input" }): ShapedChain | undefined {
  const steps = places.flatMap((place) => session[place] ?? []);
  const shaping: Shaping = { values: [], names: [], sensitive: [], known: new Map(), choosing, steps, places, linked: new Set() };
  const shaped = steps.map(({ tool, args }, step): ChainStep => ({ tool, args: templateOf(args, { step, path: "" }, shaping) }));
  if (steps.some((_step, index) => index > 0 && !shaping.linked.has(index))) return undefined;
  return { shape: { steps: shaped, inputs: shaping.names }, values: shaping.values, sensitive: shaping.sensitive };
}

interface Place {
  readonly step: number;
  /** JSON Pointer into its arguments. */
  readonly path: string;
}

function templateOf(value: JsonValue, place: Place, shaping: Shaping): Template {
  if (value === null || typeof value === "boolean") return { kind: "constant", value };
  if (Array.isArray(value)) return listOf(value, place, shaping);
  if (isPlainObject(value)) return { kind: "object", properties: Object.entries(value as JsonObject).map(([key, item]) => [key, templateOf(item, { ...place, path: `${place.path}/${escapePointer(key)}` }, shaping)] as const) };
  return leafOf(value as string | number, place, shaping);
}

/** A list of texts and numbers that came from nowhere is one input, however long. */
function listOf(value: readonly JsonValue[], place: Place, shaping: Shaping): Template {
  const isPlain = value.every((item) => typeof item === "string" || typeof item === "number");
  const flows = value.some((_item, index) => answerFor(value[index] ?? null, { ...place, path: `${place.path}/${index}` }, shaping) !== undefined);
  if (isPlain && !flows) return inputFor(value as JsonValue, place, { isTold: value.length > 0, shaping });
  return { kind: "list", items: value.map((item, index) => templateOf(item, { ...place, path: `${place.path}/${index}` }, shaping)) };
}

function leafOf(value: string | number, place: Place, shaping: Shaping): Template {
  const isTold = isTelling({ text: String(value), isNumber: typeof value === "number" });
  const known = isTold ? shaping.known.get(JSON.stringify(value)) : undefined;
  if (known !== undefined) return inputFor(value, place, { isTold, shaping });
  return answerFor(value, place, shaping) ?? inputFor(value, place, { isTold, shaping });
}

function inputFor(value: JsonValue, { step, path }: Place, { isTold, shaping }: { readonly isTold: boolean; readonly shaping: Shaping }): Template {
  const key = JSON.stringify(value);
  const known = isTold ? shaping.known.get(key) : undefined;
  if (known !== undefined) {
    shaping.linked.add(step);
    return { kind: "input", input: known };
  }
  const input = shaping.values.push(value) - 1;
  if (isTold) shaping.known.set(key, input);
  if (JSON.stringify(valueAt(shaping.steps[step]?.shownArgs, path)) !== key) shaping.sensitive.push(input);
  shaping.names.push(freeName(path, shaping.names));
  return { kind: "input", input };
}

/** The nearest answer in the chain that has this very value. */
function answerFor(value: JsonValue, { step, path }: Place, { steps, places, linked, choosing }: Shaping): Template | undefined {
  for (const flow of steps[step]?.flows.get(path) ?? []) {
    const from = places.indexOf(flow.step);
    if (from < 0 || from >= step || valueAt(steps[from]?.result, flow.path) !== value) continue;
    linked.add(step);
    if (choosing === "place" || !/\/\d+(?:\/|$)/.test(flow.path)) return { kind: "answer", step: from, path: flow.path };
  }
  return undefined;
}

/** What a value holds at a JSON Pointer. */
function valueAt(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const token of pointer.split("/").slice(1)) {
    const key = unescapePointer(token);
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)];
    else at = isPlainObject(at) && Object.hasOwn(at, key) ? (at[key] as JsonValue) : undefined;
  }
  return at;
}

function freeName(path: string, taken: readonly string[]): string {
  const last = path.split("/").findLast((token) => token !== "" && !/^\d+$/.test(token)) ?? "input";
  const name = unescapePointer(last).replaceAll(/\W/g, "_").replace(/^(?=\d)/, "_");
  let number = 2;
  while (taken.includes(`${name}_${number}`)) number += 1;
  return taken.includes(name) ? `${name}_${number}` : name;
}

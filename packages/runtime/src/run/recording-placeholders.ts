import { decodeValue } from "@callgate/contract";
import type { DetectorSwitches, JsonValue, WireValue } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { findDetected } from "../secrets/detectors/detect.ts";
import { pointerTree } from "../secrets/pointer-tree.ts";
import type { PointerTree } from "../secrets/pointer-tree.ts";

/** What must not leave the journal, and what stands for it: the same value gets the same placeholder everywhere. */
export interface RecordingPlaceholders {
  /** Takes note of what is sensitive in a value: all that stands at the pointers, and what detectors find. */
  collect(wire: WireValue, pointers: readonly string[]): void;
  collectText(text: string): void;
  /**
   * Takes note of what a program made of placeholders: `now` is what it gives in the place of `then`, so the one stands for
   * the other wherever that comes back. True when something of it is new.
   */
  learn(then: WireValue, now: WireValue): boolean;
  inWire(wire: WireValue, pointers: readonly string[]): WireValue;
  inText(text: string): string;
  readonly count: number;
}

type Leaf = string | number;

/** What is sensitive from one place of a value on: all of it, or what a tree says. */
type Places = "all" | PointerTree | undefined;

/** Shorter texts and smaller numbers turn up inside others by chance: texts are replaced only where they are all of a value, numbers only where a tool says that they are sensitive. Such a number is replaced in texts as well, the program's among them. */
const minChars = 4;
const minNumber = 1_000;

const looking: DetectorSwitches = { secret: true, email: true, phone: true, card: true, iban: true };

export function createRecordingPlaceholders(): RecordingPlaceholders {
  const byValue = new Map<Leaf, Leaf>();
  const made = new Set<Leaf>();
  const counts = new Map<string, number>();

  function placeholderOf(value: Leaf, kind = "sensitive"): Leaf {
    const known = made.has(value) ? value : byValue.get(value);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const placeholder = typeof value === "number" ? 1_000_000 + byValue.size : textFor(value, kind, count);
    byValue.set(value, placeholder);
    made.add(placeholder);
    return placeholder;
  }

  function collectText(text: string): void {
    for (const found of findDetected(text, looking)) placeholderOf(found.text, found.kind);
  }

  function inText(text: string): string {
    let left = text;
    for (const [value, placeholder] of longestFirst(byValue)) if (value.length >= minChars) left = left.replaceAll(value, () => placeholder);
    for (const [value, placeholder] of byValue) if (typeof value === "number" && Math.abs(value) >= minNumber) left = left.replace(writtenAs(value), String(placeholder));
    return left;
  }

  function inLeaf(value: Leaf, isSensitive: boolean): Leaf {
    if (isSensitive && value !== "") return placeholderOf(value);
    if (typeof value === "string") return (value.length > 1 ? byValue.get(value) : undefined) ?? inText(value);
    return Math.abs(value) >= minNumber ? (byValue.get(value) ?? value) : value;
  }

  function inValue(value: JsonValue, places: Places): JsonValue {
    if (typeof value === "string" || typeof value === "number") return inLeaf(value, places === "all");
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue, index) => inValue(item, below(places, String(index))));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [inText(key), inValue(item, below(places, key))]));
  }

  return {
    collect(wire, pointers) {
      visit(decodeValue(wire), placesOf(pointerTree(pointers)), (leaf, isSensitive) => {
        if (isSensitive && leaf !== "") placeholderOf(leaf);
        else if (typeof leaf === "string") collectText(leaf);
      });
    },
    collectText,
    learn(then, now) {
      const before = byValue.size;
      for (const [was, is] of changedTexts(JSON.parse(then.json) as JsonValue, JSON.parse(now.json) as JsonValue)) {
        if (was.length < minChars || byValue.has(was) || made.has(was)) continue;
        byValue.set(was, is);
        made.add(is);
      }
      return byValue.size > before;
    },
    inWire: (wire, pointers) => (byValue.size === 0 ? wire : { ...wire, json: JSON.stringify(inValue(JSON.parse(wire.json) as JsonValue, placesOf(pointerTree(pointers)))) }),
    inText,
    get count() {
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
  };
}

/** A number as a program or a text has it, also with its digits set apart; not a part of a longer one. */
function writtenAs(value: number): RegExp {
  return new RegExp(`(?<![\\w.])${String(value).replaceAll(/[.+]/g, "\\$&").replaceAll(/(?<=\d)(?=\d)/g, "_?")}(?!\\w|[.]\\d)`, "g");
}

/** At and below a sensitive place all is. */
function placesOf(tree: PointerTree | undefined): Places {
  return tree?.isSensitive === true ? "all" : tree;
}

function below(places: Places, key: string): Places {
  return places === "all" ? "all" : placesOf(places?.below(key));
}

function visit(value: unknown, places: Places, leaf: (value: Leaf, isSensitive: boolean) => void): void {
  if (typeof value === "string" || typeof value === "number") return leaf(value, places === "all");
  if (Array.isArray(value) || isPlainObject(value)) for (const [key, item] of Object.entries(value)) visit(item, below(places, key), leaf);
}

/** Texts that differ between two values of one form. */
function changedTexts(then: JsonValue, now: JsonValue): readonly (readonly [was: string, is: string])[] {
  if (typeof then === "string" && typeof now === "string") return then === now ? [] : [[then, now]];
  if (Array.isArray(then) && Array.isArray(now)) return then.flatMap((item: JsonValue, index) => (index < now.length ? changedTexts(item, now[index] as JsonValue) : []));
  if (!isPlainObject(then) || !isPlainObject(now)) return [];
  return Object.entries(then).flatMap(([key, item]) => (Object.hasOwn(now, key) ? changedTexts(item as JsonValue, now[key] as JsonValue) : []));
}

/** An address keeps its form, for programs look at that; the rest says what it stands for. */
function textFor(value: string, kind: string, count: number): string {
  if (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)) return `person-${kind === "email" ? "" : `${kind}-`}${count}@example.invalid`;
  return `<${kind}-${count}>`;
}

/** So that one which contains another is not taken apart. */
function longestFirst(byValue: ReadonlyMap<Leaf, Leaf>): readonly (readonly [string, string])[] {
  const texts = [...byValue].flatMap(([value, placeholder]) => (typeof value === "string" && typeof placeholder === "string" ? [[value, placeholder] as const] : []));
  return texts.sort(([a], [b]) => b.length - a.length);
}

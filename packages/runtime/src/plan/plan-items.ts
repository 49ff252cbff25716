import { encodeValue } from "@callgate/contract";
import type { Digest, PlanItem } from "@callgate/contract";
import type { RehearsalVariant } from "../broker/rehearsal.ts";
import { digestOfWire } from "../lib/digest.ts";
import { alignCalls } from "../lib/align-calls.ts";
import { differingPaths, withoutPaths } from "./value-paths.ts";

/** A write as a rehearsal has it on record. */
export interface RehearsedWrite extends Omit<PlanItem, "id" | "isConditional" | "onlyWith" | "mayRepeat" | "varies" | "derivedFrom" | "change" | "inner"> {
  readonly seq: number;
  readonly definitionDigest: Digest;
  /** As it would be performed. */
  readonly clear: unknown;
  /** Of a workflow: the writes of its own rehearsal. */
  readonly inner?: readonly RehearsedWrite[];
}

/** What came of a rehearsal whose placeholders were other ones. */
export interface OtherRehearsal {
  readonly variant: RehearsalVariant;
  readonly writes: readonly RehearsedWrite[];
  /** It came to its end. */
  readonly isWhole: boolean;
}

/**
 * The items of a plan: the writes of a rehearsal, held against those of rehearsals with other placeholders. What came there
 * as well, with the same arguments, does not depend on what the writes before it answer, as far as they can tell. What came
 * only there is an item too, after the others, and conditional.
 */
export function planItems(plain: readonly RehearsedWrite[], others: readonly OtherRehearsal[], within = ""): readonly PlanItem[] {
  const idOf = (index: number): string => `${within}${index + 1}`;
  const ids = new Map(plain.map(({ seq }, index) => [seq, idOf(index)]));
  const aligned = others.map((other) => ({ ...other, pairs: alignCalls(plain, other.writes) }));
  const counterparts = aligned.map(({ pairs, ...other }) => ({ ...other, of: new Map(pairs.map(([one, counterpart]) => [one, counterpart])) }));
  const only = extras(aligned.flatMap(({ variant, pairs }) => [{ variant, writes: pairs.flatMap(([one, other]) => (one === undefined && other !== undefined ? [other] : [])) }]));
  return [
    ...plain.map((write, index) => comparedItem(write, { id: idOf(index), ids, others: counterparts })),
    ...only.map((extra, index) => extraItem(extra, idOf(plain.length + index))),
  ];
}

interface Counterparts extends Omit<OtherRehearsal, "writes"> {
  readonly of: ReadonlyMap<RehearsedWrite | undefined, RehearsedWrite | undefined>;
}

interface Making {
  readonly id: string;
  /** Of items, by the number of their call. */
  readonly ids: ReadonlyMap<number, string>;
  readonly others: readonly Counterparts[];
}

function comparedItem(write: RehearsedWrite, { id, ids, others }: Making): PlanItem {
  const isConditional = others.some((other) => other.of.get(write) === undefined && saysMissing(other));
  const found = others.flatMap(({ of }) => { const one = of.get(write); return one === undefined ? [] : [one]; });
  const paths = found.length === 0 ? placeholderPaths(write) : outermost(found.flatMap((one) => differingPaths(write.clear, one.clear)));
  const { inner } = write;
  // Of what did not come there nothing is known to compare with.
  const innerOthers = inner === undefined ? [] : others.map(({ of, ...other }): OtherRehearsal => ({ ...other, writes: of.get(write)?.inner ?? inner }));
  return itemOf(write, { id, ids, paths, marks: { ...(isConditional ? { isConditional } : {}), ...(inner === undefined ? {} : { inner: planItems(inner, innerOthers, `${id}.`) }) } });
}

/** Where a program ends early, it says nothing of what would have come after; that a write fails is no reason to call what follows conditional. */
function saysMissing({ variant, isWhole }: Pick<OtherRehearsal, "variant" | "isWhole">): boolean {
  return variant.kind === "other" || (isWhole && variant.kind !== "failing");
}

interface Extra {
  readonly write: RehearsedWrite;
  readonly variants: RehearsalVariant[];
}

/** What came in other rehearsals only: equal writes of several of them are one. */
function extras(found: readonly { readonly variant: RehearsalVariant; readonly writes: readonly RehearsedWrite[] }[]): readonly Extra[] {
  const known = new Map<string, Extra>();
  for (const { variant, writes } of found) {
    const counts = new Map<string, number>();
    for (const write of writes) {
      const key = `${write.tool} ${restDigest(write.clear, placeholderPaths(write))}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      const extra = known.get(`${key} ${nth}`);
      if (extra === undefined) known.set(`${key} ${nth}`, { write, variants: [variant] });
      else extra.variants.push(variant);
    }
  }
  return [...known.values()];
}

function extraItem({ write, variants }: Extra, id: string): PlanItem {
  const { fails: _fails, ...made } = write;
  const paths = placeholderPaths(write);
  const { inner } = write;
  const mayRepeat = paths.length > 0 && variants.some(({ kind }) => kind === "most");
  return itemOf(made, { id, ids: new Map(), paths, marks: { isConditional: true, onlyWith: variants.map(variantText), ...(mayRepeat ? { mayRepeat } : {}), ...(inner === undefined ? {} : { inner: planItems(inner, [], `${id}.`) }) } });
}

/** In words, what the writes before an item have to answer for it to come. */
export function variantText(variant: RehearsalVariant): string {
  switch (variant.kind) {
    case "plain":
    case "other":
      return "other values";
    case "absent":
      return "something left out or null";
    case "empty":
      return "empty lists";
    case "least":
      return "low numbers";
    case "most":
      return "high numbers, longer lists or something that may be left out";
    case "failing":
      return `${variant.tool} failing`;
  }
}

interface Marked {
  readonly id: string;
  readonly ids: ReadonlyMap<number, string>;
  readonly paths: readonly string[];
  readonly marks: Pick<PlanItem, "isConditional" | "onlyWith" | "mayRepeat" | "inner">;
}

function itemOf({ seq: _seq, definitionDigest: _definitionDigest, clear, inner: _inner, ...write }: RehearsedWrite, { id, ids, paths, marks }: Marked): PlanItem {
  const within = new Set(paths);
  const sources = write.origins.filter(({ path }) => isAtOrBelow(path, within)).flatMap(({ origins }) => origins.flatMap(({ kind, seq }) => (kind === "placeholder" ? [ids.get(seq ?? -1)] : [])));
  return {
    id,
    ...write,
    ...marks,
    ...(paths.length === 0 ? {} : { varies: { paths, restDigest: restDigest(clear, paths) } }),
    derivedFrom: [...new Set(sources)].filter((source) => source !== undefined && source !== id) as string[],
  };
}

/** Places without those that are below others of them. */
function outermost(paths: readonly string[]): readonly string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && (other === "" || path.startsWith(`${other}/`))));
}

/** Of a write that came in one rehearsal only: where its arguments are known from placeholders alone. */
function placeholderPaths({ origins }: Pick<PlanItem, "origins">): readonly string[] {
  return origins.filter(({ origins: seen }) => seen.some(({ kind }) => kind === "placeholder") && !seen.some(({ kind, how }) => kind !== "placeholder" && how === "same")).map(({ path }) => path);
}

function isAtOrBelow(path: string, places: ReadonlySet<string>): boolean {
  return [...places].some((place) => path === place || path.startsWith(`${place}/`));
}

/** Of arguments without what stands at these places: what has to be the same when the write comes. */
export function restDigest(args: unknown, paths: readonly string[]): Digest {
  return digestOfWire(encodeValue(withoutPaths(args, new Set(paths))));
}

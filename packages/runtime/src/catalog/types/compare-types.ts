import { printTypeScript } from "./print-typescript.ts";
import { matchesKey } from "./type-node.ts";
import type { ObjectNode, PropertyNode, TypeNode } from "./type-node.ts";

/** A type with what its names stand for. */
export interface NamedTypes {
  readonly type: TypeNode;
  readonly named: ReadonlyMap<string, TypeNode>;
}

/**
 * Why a value of one type is not one of the other.
 *
 * - `unknown_property`: the other has no such property
 * - `missing`: the other needs it, and it is not there
 * - `optional`: the other needs it, and it may not be there
 * - `type`: it is something else
 */
export interface Misfit {
  /** `.items[].id`; empty: the value itself. */
  readonly path: string;
  readonly kind: "unknown_property" | "missing" | "optional" | "type";
  /** In TypeScript, bounded. */
  readonly is: string;
  readonly wanted: string;
}

export interface CompareOptions {
  /** Whether properties that the other type does not name count. Who writes a value names what there is; who reads one overlooks the rest. */
  readonly isStrict: boolean;
}

interface Comparing extends CompareOptions {
  readonly from: ReadonlyMap<string, TypeNode>;
  readonly to: ReadonlyMap<string, TypeNode>;
  /** Pairs of names that are being compared: types that lead back to themselves fit where nothing else speaks against it. */
  readonly open: ReadonlySet<string>;
}

/** Longest type in a message. */
const maxShownDepth = 2;
/** A wide change is told by its first parts. */
const maxMisfits = 20;

/** Where values of `from` do not fit `to`, by structure, as the checker of programs sees it. Empty: all of them fit. */
export function misfitsOf(from: NamedTypes, to: NamedTypes, options: CompareOptions): readonly Misfit[] {
  return compare({ from: from.type, to: to.type, path: "" }, { ...options, from: from.named, to: to.named, open: new Set() }).slice(0, maxMisfits);
}

/** What is held against what, and where. */
interface Pair<From extends TypeNode = TypeNode, To extends TypeNode = From> {
  readonly from: From;
  readonly to: To;
  readonly path: string;
}

function compare(pair: Pair, comparing: Comparing): readonly Misfit[] {
  const { from, to, path } = pair;
  if (to.kind === "unknown" || from.kind === "never") return [];
  if (from.kind === "name" || to.kind === "name") return compareNamed(pair, comparing);
  if (from.kind === "union") return from.members.flatMap((member) => compare({ from: member, to, path }, comparing));
  if (to.kind === "intersection") return to.members.flatMap((member) => compare({ from, to: member, path }, comparing));
  if (to.kind === "union") return closest(to.members.map((member) => compare({ from, to: member, path }, comparing)), misfit(pair));
  if (from.kind === "intersection") return closest(from.members.map((member) => compare({ from: member, to, path }, comparing)), misfit(pair));
  if (from.kind === "object" && to.kind === "object") return compareObjects({ from, to, path }, comparing);
  if (to.kind === "array" && from.kind === "array") return compare({ from: from.items, to: to.items, path: `${path}[]` }, comparing);
  if (to.kind === "array" && from.kind === "tuple") return itemsOf(from).flatMap((item, index) => compare({ from: item, to: to.items, path: `${path}[${index}]` }, comparing));
  if (to.kind === "tuple" && from.kind === "tuple") return compareTuples({ from, to, path }, comparing);
  return isWithin(from, to) ? [] : misfit(pair);
}

function compareNamed({ from, to, path }: Pair, comparing: Comparing): readonly Misfit[] {
  const key = JSON.stringify([from.kind === "name" ? from.name : from, to.kind === "name" ? to.name : to]);
  if (comparing.open.has(key)) return [];
  const [a, b] = [from.kind === "name" ? comparing.from.get(from.name) : from, to.kind === "name" ? comparing.to.get(to.name) : to];
  // A name that stands for nothing says nothing.
  return a === undefined || b === undefined ? [] : compare({ from: a, to: b, path }, { ...comparing, open: new Set([...comparing.open, key]) });
}

type Tuple = Extract<TypeNode, { kind: "tuple" }>;

function itemsOf({ items, rest }: Tuple): readonly TypeNode[] {
  return [...items.map(({ type }) => type), ...(rest === undefined ? [] : [rest])];
}

function compareTuples(pair: Pair<Tuple>, comparing: Comparing): readonly Misfit[] {
  const { from, to, path } = pair;
  const isLonger = to.rest === undefined && (from.items.length > to.items.length || from.rest !== undefined);
  const isShorter = to.items.some(({ optional }, index) => !optional && from.items[index]?.optional !== false);
  if (isLonger || isShorter) return misfit(pair);
  return from.items.flatMap(({ type }, index) => {
    const wanted = to.items[index]?.type ?? to.rest;
    return wanted === undefined ? [] : compare({ from: type, to: wanted, path: `${path}[${index}]` }, comparing);
  });
}

function compareObjects({ from, to, path }: Pair<ObjectNode>, comparing: Comparing): readonly Misfit[] {
  const named = to.properties.flatMap((property): readonly Misfit[] => {
    const at = `${path}.${property.name}`;
    const own = from.properties.find(({ name }) => name === property.name);
    if (own === undefined) return property.optional ? [] : [{ path: at, kind: "missing", is: "", wanted: shown(property.type) }];
    if (own.optional && !property.optional) return [{ path: at, kind: "optional", is: shown(own.type), wanted: shown(property.type) }];
    return compare({ from: own.type, to: property.type, path: at }, comparing);
  });
  const others = from.properties.filter(({ name }) => !to.properties.some((property) => property.name === name));
  return comparing.isStrict ? [...named, ...others.flatMap((own) => compareUnnamed({ own, to, path: `${path}.${own.name}` }, comparing))] : named;
}

function compareUnnamed({ own, to, path }: { readonly own: PropertyNode; readonly to: ObjectNode; readonly path: string }, comparing: Comparing): readonly Misfit[] {
  const indexes = to.indexes.filter(({ key }) => matchesKey(key, own.name));
  if (indexes.length > 0) return indexes.flatMap(({ type }) => compare({ from: own.type, to: type, path }, comparing));
  return to.closed || to.properties.length > 0 ? [{ path, kind: "unknown_property", is: shown(own.type), wanted: "" }] : [];
}

function isWithin(from: TypeNode, to: TypeNode): boolean {
  if (from.kind === "literal") return to.kind === "literal" ? from.value === to.value : to.kind === typeof from.value || (to.kind === "integer" && Number.isInteger(from.value));
  return from.kind === to.kind || (from.kind === "integer" && to.kind === "number");
}

/** Of several types one has to fit: nothing, or what is wrong with the only one that comes near; else that none does. */
function closest(tried: readonly (readonly Misfit[])[], none: readonly Misfit[]): readonly Misfit[] {
  if (tried.some(({ length }) => length === 0)) return [];
  const near = tried.filter((misfits) => misfits.every(({ path }) => path !== none[0]?.path));
  return near.length === 1 ? (near[0] ?? none) : none;
}

function misfit({ from, to, path }: Pair): readonly Misfit[] {
  return [{ path, kind: "type", is: shown(from), wanted: shown(to) }];
}

function shown(type: TypeNode): string {
  return printTypeScript(type, { maxDepth: maxShownDepth });
}

/** What both printers print: the part of a JSON Schema that a static type can say. */
export type TypeNode =
  | { readonly kind: "unknown" }
  | { readonly kind: "never" }
  | { readonly kind: "null" | "boolean" | "integer" | "number" | "string" }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  /** A named type of the module. `width` is that of the type behind it, as far as it was known. */
  | { readonly kind: "name"; readonly name: string; readonly width: number }
  | { readonly kind: "array"; readonly items: TypeNode }
  | { readonly kind: "tuple"; readonly items: readonly { readonly type: TypeNode; readonly optional: boolean }[]; readonly rest: TypeNode | undefined }
  | ObjectNode
  | { readonly kind: "union"; readonly members: readonly TypeNode[] }
  | { readonly kind: "intersection"; readonly members: readonly TypeNode[] };

export interface ObjectNode {
  readonly kind: "object";
  readonly properties: readonly PropertyNode[];
  /** Types of properties that are not named, by TypeScript key type: `string`, or a template such as `x-${string}`. */
  readonly indexes: readonly { readonly key: KeyPattern; readonly type: TypeNode }[];
  /** Closed: the schema itself says that nothing else may be there. */
  readonly closed: boolean;
}

export interface PropertyNode {
  readonly name: string;
  readonly optional: boolean;
  readonly type: TypeNode;
  readonly doc: readonly string[];
}

/** Keys of an index: all strings, or those with a fixed beginning or end. */
export type KeyPattern = { readonly kind: "any" } | { readonly kind: "prefix" | "suffix"; readonly text: string };

export const unknownType: TypeNode = { kind: "unknown" };
export const neverType: TypeNode = { kind: "never" };
export const nullType: TypeNode = { kind: "null" };
export const openObject: ObjectNode = { kind: "object", properties: [], indexes: [{ key: { kind: "any" }, type: unknownType }], closed: false };

/** One string per type; equal for equal types. Documentation does not count. */
function typeKey(type: TypeNode): string {
  return JSON.stringify(type, (key, value: unknown) => (key === "doc" || key === "width" ? undefined : value));
}

/** The union of types: flat, without repetitions and without what a wider member already covers. */
export function unionOf(types: readonly TypeNode[]): TypeNode {
  const members = new Map<string, TypeNode>();
  for (const type of types.flatMap((item) => (item.kind === "union" ? item.members : [item]))) {
    if (type.kind === "unknown") return unknownType;
    if (type.kind !== "never") members.set(typeKey(type), type);
  }
  const kinds = new Set([...members.values()].map(({ kind }) => kind));
  const kept = [...members.values()].filter((type) => !(type.kind === "literal" && kinds.has(typeof type.value as "string")) && !(type.kind === "integer" && kinds.has("number")));
  const booleans = kept.filter((type) => type.kind === "literal" && typeof type.value === "boolean");
  const merged = booleans.length < 2 ? kept : [...kept.filter((type) => !booleans.includes(type)), { kind: "boolean" } as const];
  const [first] = merged;
  if (first === undefined) return neverType;
  return merged.length === 1 ? first : { kind: "union", members: merged };
}

/** The types that all of the given ones allow. Plain objects are merged into one, which is how people write them. */
export function intersectionOf(types: readonly TypeNode[]): TypeNode {
  let members: TypeNode[] = [];
  for (const type of types.flatMap((item) => (item.kind === "intersection" ? item.members : [item]))) {
    if (type.kind === "never") return neverType;
    if (type.kind !== "unknown") members = addMember(members, type);
  }
  if (members.some(({ kind }) => kind === "never")) return neverType;
  const kept = withinWidth(members);
  const [first] = kept;
  if (first === undefined) return unknownType;
  return kept.length === 1 ? first : { kind: "intersection", members: kept };
}

/**
 * Widest intersection that is written down. A compiler multiplies its unions out and gives up at 100,000 members, and
 * with it on every program that can see the tool; past this the widest unions are left to validation.
 */
const maxWidth = 1_000;

function withinWidth(members: readonly TypeNode[]): readonly TypeNode[] {
  let product = members.reduce((sum, member) => sum * widthOf(member), 1);
  const byWidth = [...members].sort((a, b) => widthOf(b) - widthOf(a));
  const left = new Set<TypeNode>();
  for (const member of byWidth) {
    if (product <= maxWidth) break;
    left.add(member);
    product /= widthOf(member);
  }
  return members.filter((member) => !left.has(member));
}

/** Members of a type when it is written as one union. */
export function widthOf(type: TypeNode): number {
  if (type.kind === "name") return type.width;
  if (type.kind === "union") return type.members.reduce((sum, member) => sum + widthOf(member), 0);
  return type.kind === "intersection" ? type.members.reduce((product, member) => product * widthOf(member), 1) : 1;
}

function addMember(members: readonly TypeNode[], type: TypeNode): TypeNode[] {
  for (const [index, member] of members.entries()) {
    const both = intersectTwo(member, type);
    if (both !== undefined) return members.map((item, at) => (at === index ? both : item));
  }
  return [...members, type];
}

/** Unions are multiplied out up to this many pairs, where it makes the text plainer. */
const maxMultiplied = 64;

/** One type for two, or undefined when only `A & B` says it. */
function intersectTwo(a: TypeNode, b: TypeNode): TypeNode | undefined {
  if (typeKey(a) === typeKey(b)) return a;
  if (a.kind === "object" && b.kind === "object") return mergeObjects(a, b);
  const [ka, kb] = [jsonKind(a), jsonKind(b)];
  if (widthOf(a) * widthOf(b) > maxMultiplied) return undefined;
  if (a.kind === "union" && isFlat(a) && (kb !== undefined || b.kind === "union")) return narrowUnion(a, b);
  if (b.kind === "union" && isFlat(b) && ka !== undefined) return narrowUnion(b, a);
  if (ka === undefined || kb === undefined) return undefined;
  if (ka !== kb) return neverType;
  if (a.kind === "literal" || b.kind === "literal") return a.kind === "literal" && b.kind === "literal" ? neverType : a.kind === "literal" ? a : b;
  return a.kind === "integer" || b.kind === "integer" ? { kind: "integer" } : undefined;
}

function isFlat(union: { readonly members: readonly TypeNode[] }): boolean {
  return union.members.every((member) => jsonKind(member) !== undefined);
}

function narrowUnion(union: { readonly members: readonly TypeNode[] }, other: TypeNode): TypeNode {
  return unionOf(union.members.map((member) => intersectionOf([member, other])));
}

/** The JSON type all values of a type have; undefined where it is not one. */
function jsonKind(type: TypeNode): string | undefined {
  switch (type.kind) {
    case "literal":
      return typeof type.value;
    case "integer":
      return "number";
    case "null":
    case "boolean":
    case "number":
    case "string":
    case "object":
      return type.kind;
    case "array":
    case "tuple":
      return "array";
    case "unknown":
    case "never":
    case "name":
    case "union":
    case "intersection":
      return undefined;
  }
}

function mergeObjects(a: ObjectNode, b: ObjectNode): TypeNode {
  const names = [...new Set([...a.properties, ...b.properties].map(({ name }) => name))];
  const properties = names.map((name): PropertyNode => {
    const [pa, pb] = [propertyOf(a, name), propertyOf(b, name)];
    return { name, optional: pa.optional && pb.optional, type: intersectionOf([pa.type, pb.type]), doc: pa.doc.length > 0 ? pa.doc : pb.doc };
  });
  if (properties.some(({ optional, type }) => !optional && type.kind === "never")) return neverType;
  const closed = a.closed || b.closed;
  const indexes = a.closed ? a.indexes : b.closed ? b.indexes : mergeIndexes(a, b);
  return { kind: "object", properties: properties.filter(({ type }) => !(closed && type.kind === "never")), indexes, closed };
}

function mergeIndexes(a: ObjectNode, b: ObjectNode): ObjectNode["indexes"] {
  const keys = new Map([...a.indexes, ...b.indexes].map(({ key }) => [JSON.stringify(key), key]));
  return [...keys].map(([text, key]) => {
    const types = [a, b].flatMap(({ indexes }) => indexes.filter((index) => JSON.stringify(index.key) === text).map(({ type }) => type));
    return { key, type: intersectionOf(types) };
  });
}

/** What an object type says of a property, named or not. */
function propertyOf(object: ObjectNode, name: string): PropertyNode {
  const named = object.properties.find((property) => property.name === name);
  if (named !== undefined) return named;
  const index = object.indexes.filter(({ key }) => matchesKey(key, name)).map(({ type }) => type);
  const type = index.length > 0 ? intersectionOf(index) : object.closed ? neverType : unknownType;
  return { name, optional: true, type, doc: [] };
}

export function matchesKey(key: KeyPattern, name: string): boolean {
  switch (key.kind) {
    case "any":
      return true;
    case "prefix":
      return name.startsWith(key.text);
    case "suffix":
      return name.endsWith(key.text);
  }
}

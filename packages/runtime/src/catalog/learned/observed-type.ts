import { isPlainObject } from "../../lib/is-plain-object.ts";

const kinds = ["null", "boolean", "integer", "number", "string", "array", "object", "other"] as const;
type ObservedKind = (typeof kinds)[number];

/** What was seen at one place of a tool's answers: kinds of values and names of fields, never a value. */
export interface ObservedType {
  kinds: ObservedKind[];
  properties?: Record<string, ObservedType>;
  /** Of lists. */
  items?: ObservedType;
  /** Of objects whose keys are data, such as ids. */
  values?: ObservedType;
}

/** What one answer may cost, and what is kept of a tool: an answer may be megabytes, and its names somebody else's. */
const bounds = { depth: 8, visitsPerCall: 2_000, itemsPerList: 50, nodes: 400, properties: 100 };

/** Names that say what a field is. Anything else is data, and may be a person's name or a text meant for a model. */
const fieldName = /^[A-Za-z_$@][\w$-]{0,39}$/;
const dataInName = /\d{4}|[0-9a-f]{8}-/i;
/** So many objects of one form beside each other are a table, and their keys are its ids. */
const leastRows = 3;

interface Looking {
  /** Pointers into the answer that are sensitive, as tokens; `*` matches any. */
  readonly sensitive: readonly (readonly string[])[];
  visits: number;
  nodes: number;
  isChanged: boolean;
}

export function emptyType(): ObservedType {
  return { kinds: [] };
}

/**
 * Widens a type by one answer.
 *
 * @param sensitive pointers of which nothing is kept but that something is there
 * @returns whether the type is another now
 */
export function observeValue(type: ObservedType, value: unknown, sensitive: readonly (readonly string[])[]): boolean {
  const looking: Looking = { sensitive, visits: 0, nodes: countNodes(type), isChanged: false };
  look(type, value, { looking, path: [] });
  return looking.isChanged;
}

interface Place {
  readonly looking: Looking;
  readonly path: readonly string[];
}

function look(type: ObservedType, value: unknown, { looking, path }: Place): void {
  looking.visits += 1;
  if (looking.visits > bounds.visitsPerCall || value === undefined) return;
  const isHidden = path.length >= bounds.depth || looking.sensitive.some((pointer) => pointer.length === path.length && pointer.every((token, index) => token === "*" || token === path[index]));
  const kind = isHidden ? "other" : kindOf(value);
  addKind(type, kind, looking);
  if (kind === "array") {
    const list = value as readonly unknown[];
    const items = list.length === 0 ? undefined : child(type, "items", looking);
    if (items !== undefined) for (const item of list.slice(0, bounds.itemsPerList)) look(items, item, { looking, path: [...path, "*"] });
  } else if (kind === "object") lookIntoObject(type, value as Readonly<Record<string, unknown>>, { looking, path });
}

function lookIntoObject(type: ObservedType, value: Readonly<Record<string, unknown>>, { looking, path }: Place): void {
  const keys = Object.keys(value);
  if (type.values === undefined && hasDataKeys(type, value, keys)) turnIntoMap(type, looking);
  for (const key of keys) {
    if (looking.visits > bounds.visitsPerCall) return;
    const place = { looking, path: [...path, key] };
    const inside = type.values ?? property(type, key, looking);
    if (inside !== undefined) look(inside, value[key], place);
  }
}

function kindOf(value: unknown): ObservedKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return isPlainObject(value) ? "object" : "other";
}

function addKind(type: ObservedType, kind: ObservedKind, looking: Looking): void {
  if (type.kinds.includes(kind) || (kind === "integer" && type.kinds.includes("number"))) return;
  type.kinds = kinds.filter((one) => one === kind || (type.kinds.includes(one) && !(one === "integer" && kind === "number")));
  looking.isChanged = true;
}

function child(type: ObservedType, part: "items" | "values", looking: Looking): ObservedType | undefined {
  const known = type[part];
  if (known !== undefined || looking.nodes >= bounds.nodes) return known;
  looking.nodes += 1;
  return (type[part] = emptyType());
}

function property(type: ObservedType, key: string, looking: Looking): ObservedType | undefined {
  type.properties ??= {};
  const known = Object.hasOwn(type.properties, key) ? type.properties[key] : undefined;
  if (known !== undefined || looking.nodes >= bounds.nodes) return known;
  looking.nodes += 1;
  looking.isChanged = true;
  return (type.properties[key] = emptyType());
}

function hasDataKeys(type: ObservedType, value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  if (keys.some((key) => !fieldName.test(key) || dataInName.test(key) || key === "__proto__")) return true;
  const known = Object.keys(type.properties ?? {});
  if (new Set([...known, ...keys]).size > bounds.properties) return true;
  if (keys.length < leastRows) return false;
  const forms = new Set(keys.map((key) => (isPlainObject(value[key]) ? Object.keys(value[key]).sort().join() : "")));
  return forms.size === 1 && !forms.has("");
}

/** What was taken for fields before was data. */
function turnIntoMap(type: ObservedType, looking: Looking): void {
  const values = emptyType();
  for (const known of Object.values(type.properties ?? {})) mergeTypes(values, known);
  delete type.properties;
  type.values = values;
  looking.isChanged = true;
}

/** Widens a type by what another process has seen. */
export function mergeTypes(type: ObservedType, other: ObservedType): boolean {
  const looking: Looking = { sensitive: [], visits: 0, nodes: countNodes(type), isChanged: false };
  merge(type, other, looking);
  return looking.isChanged;
}

function merge(type: ObservedType, other: ObservedType, looking: Looking): void {
  for (const kind of other.kinds) addKind(type, kind, looking);
  if (other.values !== undefined && type.values === undefined) turnIntoMap(type, looking);
  for (const part of ["items", "values"] as const) {
    const theirs = other[part];
    const ours = theirs === undefined ? undefined : child(type, part, looking);
    if (theirs !== undefined && ours !== undefined) merge(ours, theirs, looking);
  }
  for (const [key, theirs] of Object.entries(other.properties ?? {})) {
    const ours = type.values ?? property(type, key, looking);
    if (ours !== undefined) merge(ours, theirs, looking);
  }
}

function countNodes({ properties = {}, items, values }: ObservedType): number {
  return [...Object.values(properties), ...(items === undefined ? [] : [items]), ...(values === undefined ? [] : [values])].reduce((sum, one) => sum + countNodes(one), 1);
}

/** A kept type, or undefined for what is none: the file may be anybody's. */
export function parseObservedType(value: unknown, depth = 0): ObservedType | undefined {
  if (!isPlainObject(value) || depth > bounds.depth + 1 || !Array.isArray(value["kinds"])) return undefined;
  const found = kinds.filter((kind) => (value["kinds"] as unknown[]).includes(kind));
  const { properties, items, values } = value;
  const [ofItems, ofValues] = [parseObservedType(items, depth + 1), parseObservedType(values, depth + 1)];
  const fields = isPlainObject(properties) ? Object.entries(properties).flatMap(([key, one]) => {
    const parsed = fieldName.test(key) && key !== "__proto__" ? parseObservedType(one, depth + 1) : undefined;
    return parsed === undefined ? [] : [[key, parsed] as const];
  }).slice(0, bounds.properties) : undefined;
  return { kinds: found, ...(fields === undefined ? {} : { properties: Object.fromEntries(fields) }), ...(ofItems === undefined ? {} : { items: ofItems }), ...(ofValues === undefined ? {} : { values: ofValues }) };
}

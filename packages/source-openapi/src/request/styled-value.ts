import { writeLosslessJson } from "@callgate/contract";
import { isPlainObject } from "./plain-object.ts";
import type { ParameterStyle } from "../http-operation.ts";

/** One `name=value` as it goes out, escaped; `value` alone in styles that write no name. */
export type Pair = readonly [name: string, value: string];

export interface StyledValue {
  readonly name: string;
  readonly value: unknown;
  readonly style: ParameterStyle;
  readonly explode: boolean;
  readonly escape: (text: string) => string;
}

/** RFC 3986: everything but unreserved characters is escaped. */
export function escapeStrictly(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Reserved characters stay, but for those that would end the value: `&` begins another parameter, `#` what is never sent. */
export function escapeReserved(text: string): string {
  return escapeStrictly(text).replaceAll(/%(?:3A|2F|3F|5B|5D|40|21|24|27|28|29|2A|2B|2C|3B|3D)/g, decodeURIComponent);
}

/** A single value as text: JSON for what has parts of its own, where no style has a form for it. */
export function plainValue(value: unknown): string {
  return typeof value === "object" && value !== null ? writeLosslessJson(value) : String(value);
}

/**
 * The pairs of a value in the styles of queries, cookies and forms. Empty where there is nothing to say. Names are escaped
 * whole, brackets too: every service reads them back, and some refuse a URL that holds them as they are.
 */
export function pairsOf(styled: StyledValue): readonly Pair[] {
  const { name, value, style, explode, escape } = styled;
  const key = escapeStrictly(name);
  if (value === undefined || value === null) return [];
  if (style === "deepObject") return deepPairs(name, value, escape);
  if (Array.isArray(value)) {
    const items = itemsOf(value).map((item) => escape(plainValue(item)));
    if (items.length === 0) return [];
    return explode ? items.map((item) => [key, item]) : [[key, items.join(separatorOf(style))]];
  }
  if (isPlainObject(value)) {
    const entries = entriesOf(value).map(([member, item]) => [escapeStrictly(member), escape(plainValue(item))] as const);
    if (entries.length === 0) return [];
    return explode && style === "form" ? entries : [[key, entries.flat().join(separatorOf(style))]];
  }
  return [[key, escape(plainValue(value))]];
}

/** A value in a path or a header: the styles `simple`, `label` and `matrix` of RFC 6570. */
export function expandedOf({ name, value, style, explode, escape }: StyledValue): string {
  const [first, separator, named] = style === "label" ? [".", ".", false] as const : style === "matrix" ? [";", ";", true] as const : ["", ",", false] as const;
  const key = escape(name);
  if (Array.isArray(value)) {
    const items = itemsOf(value).map((item) => escape(plainValue(item)));
    if (!named) return first + items.join(explode ? separator : ",");
    return first + (explode ? items.map((item) => `${key}=${item}`).join(separator) : `${key}=${items.join(",")}`);
  }
  if (isPlainObject(value)) {
    const entries = entriesOf(value).map(([member, item]) => [escape(member), escape(plainValue(item))] as const);
    if (explode) return first + entries.map((entry) => entry.join("=")).join(separator);
    return first + (named ? `${key}=` : "") + entries.flat().join(",");
  }
  const text = escape(plainValue(value));
  return first + (named ? (text === "" ? key : `${key}=${text}`) : text);
}

function separatorOf(style: ParameterStyle): string {
  // Escaped, because neither is a character that a URL may hold; services read both forms.
  return style === "spaceDelimited" ? "%20" : style === "pipeDelimited" ? "%7C" : ",";
}

/** `filter[a][b]=1`, lists as `filter[a][]=1`; of lists of objects with their place, so that their parts stay together. */
function deepPairs(path: string, value: unknown, escape: (text: string) => string): readonly Pair[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return itemsOf(value).flatMap((item, index) => deepPairs(`${path}[${typeof item === "object" ? index : ""}]`, item, escape));
  if (isPlainObject(value)) return entriesOf(value).flatMap(([member, item]) => deepPairs(`${path}[${member}]`, item, escape));
  return [[escapeStrictly(path), escape(plainValue(value))]];
}

function itemsOf(value: readonly unknown[]): readonly unknown[] {
  return value.filter((item) => item !== undefined && item !== null);
}

function entriesOf(value: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
}

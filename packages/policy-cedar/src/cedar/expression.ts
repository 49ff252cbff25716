import type { CedarValueJson, Expr, PatternElem } from "@cedar-policy/cedar-wasm/nodejs";

// Cedar's own JSON form of expressions, in words. No text is put together: names and values need no quoting.

export type Variable = "principal" | "action" | "resource" | "context";

export const variable = (name: Variable): Expr => ({ Var: name });
export const value = (json: CedarValueJson): Expr => ({ Value: json });
export const entity = (type: string, id: string): Expr => value({ __entity: { type, id } });
export const attribute = (left: Expr, attr: string): Expr => ({ ".": { left, attr } });
export const has = (left: Expr, attr: string): Expr => ({ has: { left, attr } });
export const equals = (left: Expr, right: Expr): Expr => ({ "==": { left, right } });
export const not = (arg: Expr): Expr => ({ "!": { arg } });
const isIn = (left: Expr, right: Expr): Expr => ({ in: { left, right } });
const setOf = (items: readonly Expr[]): Expr => ({ Set: [...items] });
export const contains = (left: Expr, right: Expr): Expr => ({ contains: { left, right } });
export const isEmpty = (arg: Expr): Expr => ({ isEmpty: { arg } });
export const call = (name: "decimal" | "lessThan" | "lessThanOrEqual" | "greaterThan" | "greaterThanOrEqual", ...args: Expr[]): Expr => ({ [name]: args });
const matchesPattern = (left: Expr, pattern: readonly PatternElem[]): Expr => ({ like: { left, pattern: [...pattern] } });

/** True when there is none that is not plainly true. */
export function all(tests: readonly Expr[]): Expr {
  const open = tests.filter((test) => !isTrue(test));
  return open.length === 0 ? value(true) : open.reduce((left, right) => ({ "&&": { left, right } }));
}

export function isTrue(test: Expr): boolean {
  return "Value" in test && test["Value"] === true;
}

/** False when there is none. */
export function any(tests: readonly Expr[]): Expr {
  return tests.length === 0 ? value(false) : tests.reduce((left, right) => ({ "||": { left, right } }));
}

/** `in` one entity, or one of several. */
export function isInAny(left: Expr, type: string, ids: readonly string[]): Expr {
  const [first, ...more] = ids;
  return first !== undefined && more.length === 0 ? isIn(left, entity(type, first)) : isIn(left, setOf(ids.map((id) => entity(type, id))));
}

/** A pattern with `*` for any run of characters. */
function patternOf(glob: string): readonly PatternElem[] {
  return glob.split(/(\*)/).filter((part) => part !== "").map((part) => (part === "*" ? "Wildcard" : { Literal: part }));
}

/** The glob against a text: no `*` in it is equality. */
export function globTest(left: Expr, glob: string): Expr {
  if (!glob.includes("*")) return equals(left, value(glob));
  return /^\*+$/.test(glob) ? value(true) : matchesPattern(left, patternOf(glob));
}

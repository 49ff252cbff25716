import { textGlob } from "./name-glob.ts";
import type { ArgumentTest, RuleMatch } from "./rule-shape.ts";

/**
 * Compiles conditions on arguments. Every one must hold. One about an argument that is not there, or is of another type,
 * does not hold (`exists: false` does).
 */
export function compileArguments(conditions: NonNullable<RuleMatch["args"]>): (args: unknown) => boolean {
  const tests = Object.entries(conditions).map(([pointer, condition]) => {
    const path = pointer.split("/").slice(1).map((part) => part.replace(/~1/g, "/").replace(/~0/g, "~"));
    const test = compileTest(condition);
    return (args: unknown) => test(valueAt(args, path));
  });
  return (args) => tests.every((test) => test(args));
}

/** Own properties only: what a prototype says is no argument. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function compileTest(condition: ArgumentTest): (value: unknown) => boolean {
  if (typeof condition !== "object" || condition === null) return (value) => value === condition;
  const tests: ((value: unknown) => boolean)[] = [];
  const { equals, in: among, gt, gte, lt, lte, glob, exists } = condition;
  if (equals !== undefined) tests.push((value) => value === equals);
  if (among !== undefined) tests.push((value) => among.some((item) => item === value));
  if (gt !== undefined) tests.push((value) => isNumber(value) && value > gt);
  if (gte !== undefined) tests.push((value) => isNumber(value) && value >= gte);
  if (lt !== undefined) tests.push((value) => isNumber(value) && value < lt);
  if (lte !== undefined) tests.push((value) => isNumber(value) && value <= lte);
  if (glob !== undefined) {
    const compiled = textGlob(glob);
    tests.push((value) => typeof value === "string" && compiled.matches(value));
  }
  if (exists !== undefined) tests.push((value) => (value !== undefined) === exists);
  return (value) => tests.every((test) => test(value));
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

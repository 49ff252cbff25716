import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { exactDecimal } from "../cedar/decimal.ts";
import { all, any, attribute, call, contains, equals, globTest, has, not, value } from "../cedar/expression.ts";
import { questionProblem } from "@callgate/runtime/broker";
import type { RuleMatch, ValueTest } from "./rule-shape.ts";

export type Fail = (key: string, problem: string) => Error;

/**
 * Compiles tests on arguments or claims; `root` is the record of those. Every one must hold. One about a value that is not
 * there, or is of another type, does not hold (`exists: false` does).
 */
export function compileValueTests(tests: NonNullable<RuleMatch["args"]>, root: Expr, fail: Fail): readonly Expr[] {
  return Object.entries(tests).map(([pointer, test]) => compileTest({ root, pointer }, test, (problem) => fail(`.${pointer}`, problem)));
}

interface Place {
  readonly root: Expr;
  readonly pointer: string;
}

type Refuse = (problem: string) => Error;

function compileTest(place: Place, test: ValueTest, refuse: Refuse): Expr {
  if (typeof test !== "object" || test === null) return equalTo(place, test, refuse);
  const { equals: equal, in: among, gt, gte, lt, lte, glob, contains: item, exists } = test;
  const found = attribute(place.root, place.pointer);
  const tests: Expr[] = [];
  if (equal !== undefined) tests.push(equalTo(place, equal, refuse));
  if (among !== undefined) tests.push(any(among.map((one) => equalTo(place, one, refuse))));
  if (gt !== undefined) tests.push(numberTest(place, (low, high) => call("greaterThan", high, decimal(gt, refuse))));
  if (gte !== undefined) tests.push(numberTest(place, (low) => call("greaterThanOrEqual", low, decimal(gte, refuse))));
  if (lt !== undefined) tests.push(numberTest(place, (low) => call("lessThan", low, decimal(lt, refuse))));
  if (lte !== undefined) tests.push(numberTest(place, (low, high) => call("lessThanOrEqual", high, decimal(lte, refuse))));
  if (glob !== undefined) {
    if (glob.includes("?")) throw refuse(questionProblem(glob));
    tests.push(all([isThere(place), has(found, "text"), globTest(attribute(found, "text"), glob)]));
  }
  if (item !== undefined) tests.push(all([isThere(place), has(found, "texts"), contains(attribute(found, "texts"), value(item))]));
  if (exists !== undefined) tests.push(exists ? isThere(place) : not(isThere(place)));
  return all(tests);
}

function isThere({ root, pointer }: Place): Expr {
  return has(root, pointer);
}

function equalTo(place: Place, wanted: string | number | boolean | null, refuse: Refuse): Expr {
  const found = attribute(place.root, place.pointer);
  if (wanted === null) return all([isThere(place), equals(attribute(found, "kind"), value("null"))]);
  if (typeof wanted === "boolean") return all([isThere(place), has(found, "bool"), equals(attribute(found, "bool"), value(wanted))]);
  if (typeof wanted === "number") {
    const same = decimal(wanted, refuse);
    return numberTest(place, (low, high) => all([equals(low, same), equals(high, same)]));
  }
  if (!wanted.isWellFormed()) throw refuse("is compared with a text that is not Unicode");
  return all([isThere(place), has(found, "text"), equals(attribute(found, "text"), value(wanted))]);
}

function numberTest(place: Place, test: (low: Expr, high: Expr) => Expr): Expr {
  const found = attribute(place.root, place.pointer);
  const number = attribute(found, "number");
  return all([isThere(place), has(found, "number"), test(attribute(number, "low"), attribute(number, "high"))]);
}

function decimal(number: number, refuse: Refuse): Expr {
  const exact = exactDecimal(number);
  if (exact.kind === "none") throw refuse(`cannot be compared exactly: ${exact.problem}`);
  return call("decimal", value(exact.text));
}

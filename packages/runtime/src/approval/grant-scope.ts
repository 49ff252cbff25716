import type { Digest, GrantArguments, GrantScope, GrantTest, Principal } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { pointerOf } from "../lib/json-pointer.ts";
import { globMatches, qualifiedGlob, segmentMatches } from "../lib/name-glob.ts";

/** A call as a grant is held against it. */
export interface GrantedCall {
  readonly principal: Principal;
  readonly tool: string;
  readonly definitionDigest: Digest;
  readonly argsDigest: Digest;
  /** The rule that asks about it, and a digest of what it says. */
  readonly rule: { readonly ruleId: string; readonly digest: Digest };
  /** As they will be performed. */
  readonly args: unknown;
}

/**
 * Whether a grant means this call: the whole operation, never a part of it (docs/decisions/0035-standing-grants.md). Names
 * and texts are compared as they are: another spelling of the same program or file is another argument.
 */
export function isCovered(scope: GrantScope, call: GrantedCall): boolean {
  const glob = qualifiedGlob(scope.tool);
  if (typeof glob === "string" || !globMatches(glob, call.tool)) return false;
  if (scope.definitions !== undefined && (!Object.hasOwn(scope.definitions, call.tool) || scope.definitions[call.tool] !== call.definitionDigest)) return false;
  const { ruleId, digest } = call.rule;
  if (scope.rules !== undefined && (!Object.hasOwn(scope.rules, ruleId) || scope.rules[ruleId] !== digest)) return false;
  return isMeant(scope, call.principal) && areCovered(scope.args, call);
}

function isMeant({ user, agent }: GrantScope, principal: Principal): boolean {
  if (user !== "*" && user !== principal.user) return false;
  return agent === "*" || agent === principal.agent;
}

function areCovered(args: GrantArguments, call: GrantedCall): boolean {
  if (args.kind === "same") return args.digest === call.argsDigest;
  const left = new Map(Object.entries(args.tests));
  return everyPlaceHolds(call.args, [], left) && [...left.values()].every(isAny);
}

/**
 * Walks down to the places that are named. One that is named and was met is taken from `left`; a value that ends at no
 * named place is not covered.
 */
function everyPlaceHolds(value: unknown, path: readonly string[], left: Map<string, GrantTest>): boolean {
  const pointer = pointerOf(path);
  const test = left.get(pointer);
  if (test !== undefined) {
    left.delete(pointer);
    return holds(test, value);
  }
  if (Array.isArray(value)) return value.length === 0 ? path.length === 0 : value.every((item, index) => everyPlaceHolds(item, [...path, String(index)], left));
  if (!isPlainObject(value)) return false;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // No arguments at all need no test; an empty object among them is a value like any.
  return entries.length === 0 ? path.length === 0 : entries.every(([key, item]) => everyPlaceHolds(item, [...path, key], left));
}

function isAny(test: GrantTest): boolean {
  return test.any === true;
}

function holds(test: GrantTest, value: unknown): boolean {
  const isSame = (wanted: unknown): boolean => Object.is(wanted, value);
  const inRange = (limit: number | undefined, fits: (number: number, bound: number) => boolean): boolean => limit === undefined || (typeof value === "number" && fits(value, limit));
  return (
    (test.equals === undefined || isSame(test.equals)) &&
    (test.in === undefined || test.in.some(isSame)) &&
    inRange(test.gt, (number, bound) => number > bound) &&
    inRange(test.gte, (number, bound) => number >= bound) &&
    inRange(test.lt, (number, bound) => number < bound) &&
    inRange(test.lte, (number, bound) => number <= bound) &&
    (test.glob === undefined || (typeof value === "string" && segmentMatches(test.glob, value)))
  );
}

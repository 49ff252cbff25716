import { CallgateError } from "@callgate/contract";
import type { GivenGrant, GrantArguments, GrantTest } from "@callgate/contract";
import { qualifiedGlob } from "../lib/name-glob.ts";

const maxUses = 10_000;
const maxTests = 100;
const yearMs = 366 * 86_400_000;
const pointer = /^(?:\/(?:[^~/]|~[01])*)+$/;
const comparisons = ["equals", "in", "gt", "gte", "lt", "lte", "glob", "any"] as const;

/** Holds what a person says of a grant against what a grant can be. Errors: USAGE, with the way to put it right. */
export function assertGrant({ tool, user, agent, maxUses: uses, expiresAtMs }: Omit<GivenGrant, "args">, nowMs: number): void {
  const glob = qualifiedGlob(tool);
  if (typeof glob === "string") throw usage(`"${tool}" ${glob}`);
  if (glob.namespace.includes("*")) throw usage(`"${tool}" reaches over namespaces; spell the namespace out, as in "crm.*"`);
  for (const name of [user, agent ?? "*"]) if (name === "" || !name.isWellFormed() || name.includes("\0")) throw usage(`${JSON.stringify(name)} is no name; write * for everybody`);
  if (!Number.isSafeInteger(uses) || uses < 1 || uses > maxUses) throw usage(`the number of uses is a whole number from 1 to ${maxUses}, not ${String(uses)}`);
  if (!(expiresAtMs > nowMs)) throw usage("it would have expired already");
  if (!(expiresAtMs <= nowMs + yearMs)) throw usage("it expires within a year: give it again then");
}

/** Tests on arguments as a person writes them. A value alone means "equals". Errors: USAGE. */
export function readGrantTests(tests: GivenGrant["args"]): GrantArguments {
  if (typeof tests !== "object" || tests === null || Array.isArray(tests)) throw usage('what it says of arguments is an object by JSON Pointer, such as { "/amount": { "lte": 100 } }');
  const entries = Object.entries(tests);
  if (entries.length > maxTests) throw usage(`it names more than ${maxTests} arguments`);
  return { kind: "tests", tests: Object.fromEntries(entries.map(([at, test]) => [at, readTest(at, test)])) };
}

function readTest(at: string, given: GivenGrant["args"][string]): GrantTest {
  if (!pointer.test(at)) throw usage(`"${at}" is no JSON Pointer into the arguments, such as "/amount"`);
  if (typeof given !== "object" || given === null) {
    if (typeof given === "number" && !Number.isFinite(given)) throw usage(`${at} is no number`);
    return { equals: given };
  }
  const keys = Object.keys(given);
  const unknown = keys.find((key) => !(comparisons as readonly string[]).includes(key));
  if (unknown !== undefined) throw usage(`${at} knows no "${unknown}"; there are ${comparisons.join(", ")}`);
  if (keys.length === 0) throw usage(`${at} names no comparison; there are ${comparisons.join(", ")}`);
  const { in: list, glob, any, equals } = given;
  if (any !== undefined && (any !== true || keys.length > 1)) throw usage(`${at}: "any" is true, and stands alone`);
  if (list !== undefined && !(Array.isArray(list) && list.every(isScalar))) throw usage(`${at}.in is a list of texts, numbers, booleans and null`);
  if (equals !== undefined && !isScalar(equals)) throw usage(`${at}.equals is a text, number, boolean or null; name what is in an object or a list by its own pointer`);
  if (glob !== undefined && (typeof glob !== "string" || glob.length > 256)) throw usage(`${at}.glob is a text of at most 256 characters`);
  for (const key of ["gt", "gte", "lt", "lte"] as const) if (given[key] !== undefined && !Number.isFinite(given[key])) throw usage(`${at}.${key} is a number`);
  return given;
}

function isScalar(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function usage(problem: string): CallgateError {
  return new CallgateError("USAGE", `The grant was not given: ${problem}`);
}

import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "@callgate/contract";
import type { StateCheck } from "../suite/eval-suite.ts";

interface States {
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** What does not hold of the end state, a sentence each. */
export function checkState(checks: readonly StateCheck[], { before, after }: States): readonly string[] {
  return checks.flatMap((check) => {
    const found = valueAt(after, check.path);
    return problemsOf(check, { found, before: valueAt(before, check.path) }).map((problem) => `${check.path === "" ? "the state" : check.path} ${problem}`);
  });
}

interface Found {
  readonly found: JsonValue | undefined;
  readonly before: JsonValue | undefined;
}

function problemsOf(check: StateCheck, { found, before }: Found): readonly string[] {
  if (check.exists !== undefined) {
    if (check.exists !== (found !== undefined)) return [check.exists ? "is not there" : `is there: ${shown(found)}`];
    if (found === undefined) return [];
  }
  if (check.unchanged === true && !isDeepStrictEqual(found, before)) return [`was to stay ${shown(before)}, and is ${shown(found)}`];
  if (found === undefined) return check.unchanged === true ? [] : ["is not there"];
  return [...contentProblems(check, found), ...sizeProblems(check, found)];
}

function contentProblems({ equals, includes, excludes, matches }: StateCheck, found: JsonValue): readonly string[] {
  return [
    ...(equals !== undefined && !isDeepStrictEqual(found, equals) ? [`is ${shown(found)}, not ${shown(equals)}`] : []),
    ...(includes !== undefined && !holds(found, includes) ? [`does not include ${shown(includes)}: ${shown(found)}`] : []),
    ...(excludes !== undefined && holds(found, excludes) ? [`includes ${shown(excludes)}`] : []),
    ...(matches !== undefined && !(typeof found === "string" && new RegExp(matches, "su").test(found)) ? [`does not match ${matches}: ${shown(found)}`] : []),
  ];
}

function sizeProblems({ count, atLeast, atMost }: StateCheck, found: JsonValue): readonly string[] {
  const size = sizeOf(found);
  const number = typeof found === "number" ? found : size;
  return [
    ...(count !== undefined && size !== count ? [`has ${size ?? "no"} items, not ${count}`] : []),
    ...(atLeast !== undefined && !(number !== undefined && number >= atLeast) ? [`is ${number ?? shown(found)}, not at least ${atLeast}`] : []),
    ...(atMost !== undefined && !(number !== undefined && number <= atMost) ? [`is ${number ?? shown(found)}, not at most ${atMost}`] : []),
  ];
}

/** A part of a text, an item of a list; anywhere within an object, so that what must not leak is looked for in all of it. */
function holds(found: JsonValue, part: JsonValue): boolean {
  if (typeof found === "string") return typeof part === "string" && found.includes(part);
  if (typeof found !== "object" || found === null) return isDeepStrictEqual(found, part);
  return Object.values(found).some((item) => isDeepStrictEqual(item, part) || (typeof part === "string" && holds(item as JsonValue, part)));
}

function sizeOf(found: JsonValue): number | undefined {
  if (typeof found === "string" || Array.isArray(found)) return found.length;
  return typeof found === "object" && found !== null ? Object.keys(found).length : undefined;
}

/** RFC 6901. Undefined where there is nothing. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (path === "") return value;
  let at: JsonValue | undefined = value;
  for (const token of path.slice(1).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key) || (Array.isArray(at) && key === "length")) return undefined;
    at = (at as Readonly<Record<string, JsonValue>>)[key];
  }
  return at;
}

const maxShownChars = 200;

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars)}…`;
}

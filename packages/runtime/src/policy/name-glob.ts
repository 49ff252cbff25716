/** A pattern over names: `*` is any run of characters, `?` one. Matching does not backtrack beyond the last star. */
export interface Glob {
  matches(text: string): boolean;
}

/** A pattern over qualified names. */
export interface QualifiedGlob extends Glob {
  /** Whether it matches all tools of a namespace; `maybe` where that depends on the tool. */
  within(namespace: string): boolean | "maybe";
}

const MAX_PATTERN_CHARS = 256;

/** Over a text without structure. */
export function textGlob(pattern: string): Glob {
  return { matches: (text) => matchesGlob(pattern, text) };
}

/**
 * Over qualified names: each side of the dot by itself, so a star never reaches across it. `*` alone is `*.*`.
 *
 * @returns the glob, or what is wrong with the pattern: a sentence with the way to say it
 */
export function qualifiedGlob(pattern: string): QualifiedGlob | string {
  const whole = pattern === "*" ? "*.*" : pattern;
  const problem = whole.length > MAX_PATTERN_CHARS ? `is longer than ${MAX_PATTERN_CHARS} characters` : problemOf(whole);
  if (problem !== undefined) return problem;
  const [namespace = "", member = ""] = whole.split(".");
  return {
    matches(name) {
      const dot = name.indexOf(".");
      return dot > 0 && matchesGlob(namespace, name.slice(0, dot)) && matchesGlob(member, name.slice(dot + 1));
    },
    within: (name) => matchesGlob(namespace, name) && (/^\*+$/.test(member) || "maybe"),
  };
}

/** Over one side of a name: a namespace. */
export function segmentGlob(pattern: string): Glob | string {
  if (pattern.length > MAX_PATTERN_CHARS) return `is longer than ${MAX_PATTERN_CHARS} characters`;
  return spellingProblem(pattern) ?? textGlob(pattern);
}

function problemOf(pattern: string): string | undefined {
  const sides = pattern.split(".");
  if (sides.length === 1) return `can match no tool: names are "namespace.tool"; write "${pattern}.*" for all tools of a namespace or "*.${pattern}" for that tool of any`;
  if (sides.length > 2) return 'can match no tool: names are "namespace.tool", with one dot';
  return sides.map(spellingProblem).find((problem) => problem !== undefined);
}

function spellingProblem(side: string): string | undefined {
  if (side === "") return "can match no tool: a side of the dot is empty";
  if (/^[A-Za-z0-9_$*?]+$/.test(side)) return undefined;
  return `can match no tool: names hold only letters, digits and "_" (write "${side.replace(/[^A-Za-z0-9_$*?]/g, "_")}")`;
}

/** Greedy, with one place to go back to: at most pattern × text steps, whatever they are. */
function matchesGlob(pattern: string, text: string): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === "*") [star, mark, p] = [p, t, p + 1];
    else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) [p, t] = [p + 1, t + 1];
    else if (star >= 0) [p, mark, t] = [star + 1, mark + 1, mark + 1];
    else return false;
  }
  while (p < pattern.length && pattern[p] === "*") p += 1;
  return p === pattern.length;
}

import { RE2JS } from "re2js";

/** What Ajv needs of a regular expression. It tells two apart by their text. */
export interface SchemaPattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * A schema's pattern as an expression that takes linear time (RE2), because pattern and text both come from others: an
 * upstream writes one, a program the other, and `^(a+)+$` would stop the host for years.
 *
 * Undefined for what RE2 cannot say: look-around, back-references, repeat counts past 1,000, another language's syntax.
 * Such a pattern is not checked, and registration says so. Known difference: `\s` is the ASCII spaces only.
 */
export function readPattern(pattern: string): SchemaPattern | undefined {
  try {
    const expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => expression.test(text), toString: () => pattern };
  } catch {
    return undefined;
  }
}

/** The same, accepting everything where the pattern cannot be read. */
export function tolerantPattern(pattern: string): SchemaPattern {
  return readPattern(pattern) ?? { test: () => true, toString: () => pattern };
}

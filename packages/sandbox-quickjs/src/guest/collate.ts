import { SafeRangeError, charCodeAt, codePointAt, toLowerCase, uncurry } from "./intrinsics.ts";
import { checkLocale, optionOf, refuseUnknown } from "./locale-options.ts";

const normalize = uncurry(String.prototype.normalize);
/** ASCII as the root collation orders it; letters come after, each lower case before its upper case. */
const asciiOrder = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

interface CollationKey {
  readonly primary: readonly number[];
  readonly marks: string;
  readonly cases: string;
}

/**
 * Order of two texts for en-US: letters before their case and accents, punctuation before digits before letters. For
 * scripts other than Latin it is the order of code points.
 */
export function compareTexts(a: string, b: string, request: { readonly locales: unknown; readonly options: unknown }): number {
  checkLocale(request.locales);
  refuseUnknown("localeCompare", request.options, ["numeric", "sensitivity", "usage"]);
  const sensitivity = optionOf(request.options, "sensitivity", ["base", "accent", "case", "variant"]) ?? "variant";
  const numeric = (request.options as { numeric?: unknown } | undefined)?.numeric === true;
  if (a.length > 1_000_000 || b.length > 1_000_000) throw new SafeRangeError("localeCompare takes texts of up to a million characters");
  const [left, right] = [keyOf(a, numeric), keyOf(b, numeric)];
  const primary = comparePrimary(left.primary, right.primary);
  if (primary !== 0) return primary;
  if ((sensitivity === "accent" || sensitivity === "variant") && left.marks !== right.marks) return left.marks < right.marks ? -1 : 1;
  if ((sensitivity === "case" || sensitivity === "variant") && left.cases !== right.cases) return left.cases < right.cases ? -1 : 1;
  return 0;
}

function comparePrimary(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const [x, y] = [a[index] as number, b[index] as number];
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

function keyOf(text: string, numeric: boolean): CollationKey {
  const source = normalize(text, "NFD" as never);
  const primary: number[] = [];
  let marks = "";
  let cases = "";
  for (let index = 0; index < source.length; index++) {
    const code = codePointAt(source, index) as number;
    if (code > 0xffff) index += 1;
    if (code >= 0x300 && code <= 0x36f) {
      marks += `${primary.length}:${code};`;
      continue;
    }
    const isDigit = code >= 48 && code <= 57;
    if (numeric && isDigit) {
      let value = 0;
      for (; index < source.length; index++) {
        const digit = charCodeAt(source, index) - 48;
        if (!(digit >= 0 && digit <= 9)) break;
        value = value * 10 + digit;
      }
      index -= 1;
      primary.push(100 + value / (value + 1_000_000));
      cases += "0";
      continue;
    }
    const character = String.fromCodePoint(code);
    const lower = toLowerCase(character);
    const place = asciiOrder.indexOf(character);
    primary.push(place >= 0 ? place : code < 32 ? 0 : 1000 + (codePointAt(lower, 0) as number));
    cases += lower === character ? "0" : "1";
  }
  return { primary, marks, cases };
}

// JSON numbers have no size, JavaScript's have: a whole number beyond 2^53 in a JSON column becomes a BigInt, and goes back
// with the same digits.

interface ReviverContext {
  readonly source?: string;
}
type ParseWithSource = (text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown) => unknown;

const parseWithSource = JSON.parse as ParseWithSource;
// ES2026; every Node that Callgate runs on has it, TypeScript's library does not yet.
const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON;

const maybeLarge = /\d{16}/;

/** Errors: `SyntaxError` for text that is no JSON. */
export function parseExactJson(text: string): unknown {
  if (!maybeLarge.test(text)) return JSON.parse(text) as unknown;
  return parseWithSource(text, (_key, value, { source }) => (typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value));
}

export function writeExactJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? rawJson(item.toString()) : item));
}

/** A whole number in the house's form: a number where that is exact, a BigInt where it is not. */
export function wholeNumber(value: bigint | string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

// JSON numbers have no size; `JSON.parse` rounds whole numbers beyond 2^53 silently, so an id of 19 digits comes back as
// another id. Here such a number becomes a BigInt and goes out again with the same digits.

interface ReviverContext {
  /** The literal as it stood in the text; only for primitives. */
  readonly source?: string;
}
type ParseWithSource = (text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown) => unknown;
type RawJson = (text: string) => unknown;

const parseWithSource = JSON.parse as ParseWithSource;
// ES2026; every Node that Callgate runs on has it, TypeScript's library does not yet.
const rawJson = (JSON as unknown as { readonly rawJSON: RawJson }).rawJSON;

/** 16 digits in a row: below that, every whole number is exact. Keeps the slow path off texts that cannot need it. */
const MAYBE_LARGE = /\d{16}/;
const WHOLE = /^-?\d+$/;

/**
 * Parses JSON text; a whole number that a double cannot hold exactly becomes a BigInt.
 *
 * Errors: `SyntaxError` for text that is no JSON. Cost: that of `JSON.parse` unless the text holds 16 digits in a row.
 */
export function parseLosslessJson(text: string): unknown {
  if (!MAYBE_LARGE.test(text)) return JSON.parse(text) as unknown;
  return parseWithSource(text, (_key, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && context.source !== undefined && WHOLE.test(context.source)
      ? BigInt(context.source)
      : value,
  );
}

/** Writes JSON text; a BigInt becomes a number with all its digits. Throws `TypeError` for cycles. */
export function writeLosslessJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? rawJson(item.toString()) : item));
}

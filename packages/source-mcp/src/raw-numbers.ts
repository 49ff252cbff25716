// The SDK's HTTP transports write messages with `JSON.stringify`, which throws for a BigInt. A raw number is written with
// all its digits by any writer.

type RawJson = (text: string) => unknown;
// ES2026; every Node that Callgate runs on has it, TypeScript's library does not yet.
const rawJson = (JSON as unknown as { readonly rawJSON: RawJson }).rawJSON;

/** The same value with every BigInt as a raw number; what holds none is given back as it is. */
export function withRawNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return rawJson(value.toString());
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withRawNumbers);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, item, withRawNumbers(item)] as const);
  return entries.some(([, before, after]) => before !== after) ? Object.fromEntries(entries.map(([key, , after]) => [key, after])) : value;
}

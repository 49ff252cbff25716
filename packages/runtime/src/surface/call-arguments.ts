/** Arguments as the tool gets them, or the places where they cannot be what the client meant. */
export type CallArguments = { readonly kind: "ok"; readonly value: unknown } | { readonly kind: "inexact"; readonly paths: readonly string[] };

/** Deeper arguments are left as they are; the gate's own bound refuses them. */
const MAX_DEPTH = 100;

/**
 * Reads the arguments a client sent.
 *
 * `{"$bigint": "1234567890123456789"}`, which is how results show whole numbers beyond 2^53, becomes that number. A bare
 * number of that size was rounded on its way here (JSON parsers hold doubles): calling a tool with another id than the
 * model wrote would be worse than refusing.
 */
export function readCallArguments(sent: unknown): CallArguments {
  const paths: string[] = [];
  const value = readPart(sent, { paths, path: "", depth: 0 });
  return paths.length === 0 ? { kind: "ok", value } : { kind: "inexact", paths };
}

interface Place {
  readonly paths: string[];
  readonly path: string;
  readonly depth: number;
}

function readPart(value: unknown, place: Place): unknown {
  if (typeof value === "number") {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) place.paths.push(place.path);
    return value;
  }
  if (typeof value !== "object" || value === null || place.depth > MAX_DEPTH) return value;
  const inner = (key: string | number): Place => ({ paths: place.paths, path: `${place.path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`, depth: place.depth + 1 });
  if (Array.isArray(value)) return value.map((item, index) => readPart(item, inner(index)));
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === "$bigint" && typeof first[1] === "string" && /^-?\d{1,1000}$/.test(first[1])) return BigInt(first[1]);
  return Object.fromEntries(entries.map(([key, item]) => [key, readPart(item, inner(key))]));
}

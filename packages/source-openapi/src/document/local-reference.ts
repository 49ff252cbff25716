// Reading a document without believing anything about its inside.

export type DocumentObject = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is DocumentObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own property of a record; `undefined` for anything else, whatever the name. */
export function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** What a local `$ref` (`#/a/b`) leads to; `undefined` where it leads nowhere or out of the document. */
export function follow(document: unknown, ref: string): unknown {
  if (ref === "#") return document;
  const fragment = ref.startsWith("#/") ? decoded(ref.slice(2)) : undefined;
  if (fragment === undefined) return undefined;
  let at: unknown = document;
  for (const part of fragment.split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at) && /^\d+$/.test(key) ? (at as unknown[])[Number(key)] : own(at, key);
  }
  return at;
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A literal percent sign that nobody encoded.
    return fragment;
  }
}

/** References in a row past this many go in a circle. */
const maxHops = 32;

/** The object a value is or refers to, by any number of references; `undefined` where that is none. */
export function resolved(document: unknown, value: unknown): DocumentObject | undefined {
  let at: unknown = value;
  for (let hops = 0; hops < maxHops; hops++) {
    const ref = own(at, "$ref");
    if (typeof ref !== "string") return isRecord(at) ? at : undefined;
    at = follow(document, ref);
  }
  return undefined;
}

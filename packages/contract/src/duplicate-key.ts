/**
 * The first place of a JSON text where an object names a key twice, as a JSON Pointer; undefined where none does.
 * Parsers disagree about which of the two counts (RFC 8259, section 4), so such a text has no one meaning.
 *
 * Linear; takes text that a JSON parser accepts. Keys are compared as they read, not as they are escaped.
 */
export function duplicateKey(json: string): string | undefined {
  const open: Container[] = [];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(json, at + 1);
      const inner = open.at(-1);
      if (inner?.keys !== undefined && inner.isKeyNext) {
        const key = keyOf(json.slice(at + 1, end));
        inner.key = key;
        inner.isKeyNext = false;
        if (inner.keys.has(key)) return open.map((container) => `/${container.key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
        inner.keys.add(key);
      }
      at = end;
    } else if (code === openBrace) open.push({ keys: new Set(), key: "", isKeyNext: true });
    else if (code === openBracket) open.push({ keys: undefined, key: "0", isKeyNext: false });
    else if (code === closeBrace || code === closeBracket) open.pop();
    else if (code === comma) nextItem(open.at(-1));
  }
  return undefined;
}

interface Container {
  /** Undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** Of the property or item that is being read. */
  key: string;
  isKeyNext: boolean;
}

const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d];

function nextItem(inner: Container | undefined): void {
  if (inner === undefined) return;
  if (inner.keys === undefined) inner.key = String(Number(inner.key) + 1);
  else inner.isKeyNext = true;
}

function keyOf(raw: string): string {
  return raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function stringEnd(json: string, start: number): number {
  let at = start;
  while (at < json.length && json.charCodeAt(at) !== quote) at += json.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

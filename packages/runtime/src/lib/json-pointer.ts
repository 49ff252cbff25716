/** A property's name as one step of a JSON Pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replace(/~/g, "~0").replace(/\//g, "~1");
}

/** The name that a step of a JSON Pointer stands for. */
export function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A path as a JSON Pointer; the empty path is the whole value, `""`. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((key) => `/${escapePointer(String(key))}`).join("");
}

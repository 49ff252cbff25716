/** Sensitive places below one place of a value. */
export interface PointerTree {
  /** The value here is sensitive as a whole. */
  readonly isSensitive: boolean;
  /** The tree below a property or item; undefined when nothing there is sensitive. */
  below(key: string): PointerTree | undefined;
}

/**
 * Reads JSON Pointers (RFC 6901) into a tree. The token `*` stands for every item and every property. A text that is no
 * pointer marks everything: hiding too much is the safe mistake.
 */
export function pointerTree(pointers: readonly string[]): PointerTree | undefined {
  if (pointers.length === 0) return undefined;
  return treeOf(pointers.map((pointer) => (pointer.startsWith("/") ? pointer.slice(1).split("/").map(unescapeToken) : [])));
}

function treeOf(paths: readonly (readonly string[])[]): PointerTree | undefined {
  if (paths.length === 0) return undefined;
  return {
    isSensitive: paths.some((path) => path.length === 0),
    below: (key) => treeOf(paths.filter(([token]) => token === key || token === "*").map((path) => path.slice(1))),
  };
}

function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** True when `inner` is `outer` or below it. Both have to be free of links. */
export function isWithin(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}

/** Where a path leads; of what is not there, where its folder leads. */
export function resolvedPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(resolvedPath(folder), basename(path));
  }
}

import module from "node:module";
import { dirname } from "node:path";

/**
 * The environment of a worker thread: empty, so that no secret of the host's is even a value in its memory, but for the
 * folder of compiled code where this process keeps one. What a thread loads is compiled once then, not in every process.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const versioned = module.getCompileCacheDir();
  return versioned === undefined ? {} : { NODE_COMPILE_CACHE: dirname(versioned) };
}

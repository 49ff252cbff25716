import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Where pyright is installed; it is started and read as files, never imported. */
export function pyrightFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("pyright/package.json"));
}

import { stat } from "node:fs/promises";
import { isUrl } from "./document-reader.ts";

/** What tells one state of a file from the next without reading it. Undefined where there is none; a URL is always the same. */
export async function stampOf(location: string): Promise<string | undefined> {
  if (isUrl(location)) return location;
  const found = await stat(location).catch(() => undefined);
  return found === undefined ? undefined : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

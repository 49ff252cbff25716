import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReadPart } from "./load-document.ts";

/** Gets the text of a URL through the guarded client. Throws `Error` that says why it cannot. */
export type FetchText = (url: URL, signal: AbortSignal) => Promise<string>;

/** Bytes of one file. */
const maxFileBytes = 64 * 1024 * 1024;

/** Whether a location is a URL of a service rather than a path. */
export function isUrl(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/** The absolute path or URL of what a configuration names. */
export function locationOf(document: string, folder: string): string {
  if (isUrl(document)) return new URL(document).href;
  return resolve(folder, document.startsWith("file:") ? fileURLToPath(document) : document);
}

/**
 * Reads files and URLs. References of a file lead to files within the given folders and to URLs; those of a URL lead to
 * URLs only, so that what a stranger wrote never names a file of this machine.
 *
 * @param root the document that is read
 */
export function createDocumentReader(root: string, { folders, fetchText }: { readonly folders: readonly string[]; readonly fetchText: FetchText }): ReadPart {
  return async (location, signal) => {
    if (isUrl(location)) return await fetchText(new URL(location), signal);
    if (/^[a-z][a-z0-9+.-]+:/i.test(location)) throw new Error("only files and http(s) URLs are read");
    if (isUrl(root)) throw new Error("a document from a URL cannot refer to files");
    if (location !== root && !(await isWithin(location, folders))) throw new Error(`it is outside of ${folders.join(" and ")}; move it there`);
    const { size } = await stat(location);
    if (size > maxFileBytes) throw new Error(`it has ${size} bytes, the bound is ${maxFileBytes}`);
    return await readFile(location, { encoding: "utf8", signal });
  };
}

/** Where links lead counts, not where they are. */
async function isWithin(file: string, folders: readonly string[]): Promise<boolean> {
  const real = await realpath(file);
  for (const folder of folders) {
    const way = relative(await realpath(folder), real);
    if (way !== ".." && !way.startsWith("../") && !isAbsolute(way)) return true;
  }
  return false;
}

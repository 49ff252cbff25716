import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

export type FileRead = { readonly kind: "read"; readonly bytes: Buffer; readonly modifiedMs: number } | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads a file of a folder, and nothing that a link has put in its place meanwhile: the last part is not followed, and what was
 * opened must be where the path without links says. Rejects with what the file system says.
 *
 * @param root without links, as `scanFolder` gives it
 */
export async function readFileWithin(root: string, path: string, maxBytes: number): Promise<FileRead> {
  const place = join(root, ...path.split("/"));
  // Without blocking: what is a pipe by now would wait for a writer.
  const file = await open(place, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const { size, mtimeMs } = await file.stat();
    if (!(await file.stat()).isFile()) return { kind: "refused", reason: "it is no file any more" };
    const real = await realpath(place);
    if (real !== place || !real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return { kind: "refused", reason: "a link leads to it" };
    if (size > maxBytes) return { kind: "refused", reason: `it is larger than ${maxBytes} bytes (maxFileBytes)` };
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return { kind: "read", bytes: bytes.subarray(0, bytesRead), modifiedMs: mtimeMs };
  } finally {
    await file.close();
  }
}

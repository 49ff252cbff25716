import { mkdtempSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Makes a new folder that only this user may enter, to be given to the user that programs run as. Started by root, that is
 * another user, and root's own temporary folder may lie where others cannot pass: then it is made in /tmp.
 *
 * @param prefix Begin of the folder's name.
 * @returns Its real path. Throws when none can be made.
 */
export function makeTempFolder(prefix: string): string {
  const own = realpathSync(tmpdir());
  const place = process.getuid?.() === 0 && !isOpenToAll(own) ? "/tmp" : own;
  return mkdtempSync(join(place, prefix));
}

/** True when every user may pass through the folder and all above it. */
function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  const above = dirname(folder);
  return above === folder || isOpenToAll(above);
}

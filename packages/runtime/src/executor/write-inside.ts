import { closeSync, constants, existsSync, fchownSync, fstatSync, ftruncateSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Writes a file below a folder that a hostile program may be changing meanwhile: no link is followed, at any level, and
 * only a regular file is written to. Folders on the way are made. Who owns the folder owns what is made.
 *
 * @returns what is wrong, for a person; undefined when it was written
 */
export function writeInside(root: string, segments: readonly string[], text: string): string | undefined {
  const open: number[] = [];
  const keep = (descriptor: number): number => {
    open.push(descriptor);
    return descriptor;
  };
  try {
    let folder = keep(openSync(root, O_RDONLY | O_DIRECTORY));
    let path = root;
    const { uid, gid } = fstatSync(folder);
    const own = (descriptor: number): void => {
      if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
    };
    for (const segment of segments.slice(0, -1)) {
      path = join(path, segment);
      const isNew = makeFolder(entryOf(folder, path, segment));
      folder = keep(openSync(entryOf(folder, path, segment), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      if (isNew) own(folder);
    }
    const name = segments.at(-1) ?? "";
    path = join(path, name);
    const entry = entryOf(folder, path, name);
    if (isLink(entry)) return `${segments.join("/")} is not in the workspace: a link stands in its place`;
    const file = keep(openSync(entry, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644));
    if (!fstatSync(file).isFile()) return `${segments.join("/")} is there and is no file`;
    own(file);
    ftruncateSync(file);
    writeFileSync(file, text);
    return undefined;
  } catch (fault) {
    return explain(segments, fault);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/** An entry of an open folder. Linux alone can name it by the descriptor, so that nobody can put another folder in its place. */
function entryOf(folder: number, path: string, name: string): string {
  return process.platform === "linux" && existsSync("/proc/self/fd") ? `/proc/self/fd/${folder}/${name}` : path;
}

function makeFolder(entry: string): boolean {
  try {
    mkdirSync(entry, 0o755);
    return true;
  } catch (fault) {
    if (codeOf(fault) === "EEXIST") return false;
    throw fault;
  }
}

function isLink(entry: string): boolean {
  return lstatSync(entry, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && "code" in fault ? String(fault.code) : "unknown reason";
}

function explain(segments: readonly string[], fault: unknown): string {
  const name = segments.join("/");
  const code = codeOf(fault);
  if (code === "ELOOP" || code === "ENOTDIR") return `${name} is not in the workspace: a link or a file stands where a folder should be`;
  if (code === "EISDIR" || code === "ENXIO") return `${name} is there and is no file`;
  return `${name} could not be written (${code})`;
}

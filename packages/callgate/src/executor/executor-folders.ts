import { accessSync, chownSync, constants, existsSync, mkdirSync, realpathSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { makeTempFolder } from "@callgate/sandbox-process";
import type { GuestUser } from "@callgate/sandbox-process";

/** The folders an executor works with. */
export interface ExecutorFolders {
  /** The working folder: the user's, or one of our own. */
  readonly work: string;
  /** Holds modules of functions; there when they are. */
  readonly modules: string | undefined;
  /** Removes what is ours and leaves the rest. Never throws: what could not be removed is told. */
  remove(): readonly string[];
}

export interface FoldersOptions {
  /** The user's working folder. Made when it is not there. */
  readonly workDir: string | undefined;
  /** Where a relative one starts. */
  readonly folder: string;
  /** Whom programs are on the host, where they are not the user of this process. */
  readonly guestUser: GuestUser | undefined;
  /** File name to text. */
  readonly modules: Readonly<Record<string, string>>;
  /** Default: `rmSync`. */
  readonly removeFolder?: (path: string) => void;
}

/** Errors: `CallgateError` CONFIG_INVALID for a working folder that is none, or that programs could not use. */
export function createExecutorFolders({ workDir, folder, guestUser, modules, removeFolder = removeAll }: FoldersOptions): ExecutorFolders {
  const own = workDir === undefined || Object.keys(modules).length > 0 ? makeOwn(guestUser) : undefined;
  const work = workDir === undefined ? makeBelow(own ?? "", "work", guestUser) : usersFolder(resolve(folder, workDir), guestUser);
  const hadOut = existsSync(join(work, "out"));
  const modulesFolder = own === undefined || Object.keys(modules).length === 0 ? undefined : makeBelow(own, "modules", guestUser);
  for (const [name, text] of Object.entries(modules)) if (modulesFolder !== undefined) writeFileSync(join(modulesFolder, name), text, { mode: 0o644 });
  return {
    work,
    modules: modulesFolder,
    remove() {
      const left: string[] = [];
      if (workDir !== undefined && !hadOut) removeIfEmpty(join(work, "out"));
      try {
        if (own !== undefined) removeFolder(own);
      } catch (fault) {
        left.push(`The folder ${own} could not be removed (${fault instanceof Error ? fault.message : "unknown reason"}); remove it yourself`);
      }
      return left;
    },
  };
}

function makeOwn(guestUser: GuestUser | undefined): string {
  // The real path: a link on the way, as /tmp is one on some systems, is none inside of a sandbox.
  const made = makeTempFolder("callgate-executor-");
  give(made, guestUser);
  return made;
}

function makeBelow(parent: string, name: string, guestUser: GuestUser | undefined): string {
  const made = join(parent, name);
  mkdirSync(made, { mode: 0o700 });
  give(made, guestUser);
  return made;
}

function give(path: string, guestUser: GuestUser | undefined): void {
  if (guestUser !== undefined) chownSync(path, guestUser.uid, guestUser.gid);
}

function usersFolder(path: string, guestUser: GuestUser | undefined): string {
  try {
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true });
      give(path, guestUser);
    }
    const real = realpathSync(path);
    if (!statSync(real).isDirectory()) throw new CallgateError("CONFIG_INVALID", `The working folder ${path} is no folder`);
    if (guestUser === undefined) accessSync(real, constants.W_OK | constants.X_OK);
    else assertUsable(real, guestUser);
    return real;
  } catch (fault) {
    if (CallgateError.is(fault)) throw fault;
    throw new CallgateError("CONFIG_INVALID", `The working folder ${path} cannot be used: ${fault instanceof Error ? fault.message : "unknown reason"}`, { cause: fault });
  }
}

/** Started by root, programs are another user: that one has to reach the folder and write there. */
function assertUsable(path: string, user: GuestUser): void {
  const allows = (at: string, bits: number): boolean => {
    const { uid, gid, mode } = statSync(at);
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
    return ((mode >> shift) & bits) === bits;
  };
  for (let at = dirname(path); user.isShown !== true; at = dirname(at)) {
    if (!allows(at, 1)) throw new CallgateError("CONFIG_INVALID", `Programs cannot reach the working folder ${path}: Callgate runs as root, so they run as uid ${user.uid}, and ${at} lets that user not pass. Choose another folder, or run Callgate as another user`);
    if (at === dirname(at)) break;
  }
  if (!allows(path, 3)) throw new CallgateError("CONFIG_INVALID", `Programs cannot write to the working folder ${path}: Callgate runs as root, so they run as uid ${user.uid}. Give it to them (chown ${user.uid}:${user.gid} ${path}), or run Callgate as another user`);
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {} // Something is in it, or it was never made.
}

function removeAll(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

import type { ProgramLanguage } from "@callgate/contract";
import type { Readable, Writable } from "node:stream";
import type { GuestConnection } from "@callgate/contract";

/** Where a guest finds its `door`. */
export const doorPath = "/run/callgate/door";

/** A folder or file of the host that a guest sees. */
export interface Mount {
  /** Absolute path on the host. */
  readonly host: string;
  /** Absolute path in the guest. */
  readonly guest: string;
  /**
   * `rw` lets a program change the host's files: only for what was made for it. `overlay` is a folder of which each guest
   * sees its own copy: it can change everything, the host's files stay as they are, and the changes go with the guest.
   * What is changed counts to `workspaceMiB` and `workspaceFiles`; where the launcher has to copy, all of the folder does.
   */
  readonly mode: "ro" | "rw" | "overlay";
}

/** Bounds of one guest process and everything it starts. */
export interface LaunchBounds {
  /** Data of one process, and of all together where a control group can say so. */
  readonly memoryMiB: number;
  readonly processes: number;
  /** Workspace, temporary files and shared memory together. */
  readonly workspaceMiB: number;
  readonly workspaceFiles: number;
  readonly openFiles: number;
  /**
   * What an interpreter sets aside without using it, beside `memoryMiB`, where a bound counts that: V8 reserves hundreds
   * of MiB. Default 0.
   */
  readonly reservedMiB?: number;
}

/** What to start. Descriptor 3 brings commands, 4 takes frames; 0 is empty, 1 and 2 are output. */
export interface LaunchSpec {
  /** Program and arguments as the guest sees them. */
  readonly command: readonly string[];
  /** Our own file that the command needs; `{guest}` in an argument is replaced by where it is. */
  readonly guestFile?: URL;
  /**
   * A program of the host that the command starts with, as `{program}`: where the sandbox sees the host's files it is the
   * file itself, shown read-only; where it has a system of its own, such as an image, it is what that finds under `name`.
   */
  readonly program?: { readonly name: string; readonly file: string };
  /** What it runs; chooses an image where each language has one. */
  readonly language?: ProgramLanguage;
  /** All the guest's environment beside HOME, PATH, LANG, TZ and TMPDIR. */
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds: LaunchBounds;
  readonly mounts: readonly Mount[];
  /**
   * A unix socket of this host that the guest sees at `doorPath`: its only way out. It is alone in its folder, which the
   * launcher may hand to whom its guests run as. A launcher that cannot give it throws CONFIG_INVALID.
   */
  readonly door?: string;
}

export interface GuestExit {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** True when the kernel ended it for memory. */
  readonly outOfMemory: boolean;
  /** Why it could not be started, or was lost: no end of its own. Told to programs and models: no path of the host. */
  readonly failure?: string;
  /** What this host's tools said about it, as they said it: for its people, never for a program or model. */
  readonly diagnosis?: string;
}

export interface ResourceUse {
  readonly cpuMs: number;
  readonly memoryMiB: number;
}

/** A started guest. The launcher owns its processes until `exited`. */
export interface LaunchedGuest {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly frames: Readable;
  readonly commands: Writable;
  /** Never rejects. When it resolves, no process of the guest lives. */
  readonly exited: Promise<GuestExit>;
  /** What all its processes used; undefined where that cannot be seen (any more). */
  use(): ResourceUse | undefined;
  /** Tells what went through the guest's `door`; all of it before `exited`. */
  onConnection?(hear: (connection: GuestConnection) => void): void;
  /** SIGINT to the guest's process and what it started, as Ctrl-C at a terminal. */
  interrupt(): void;
  /** Ends every process of the guest at once. Idempotent; `exited` tells when it is done. */
  kill(): void;
}

export type LauncherProbe =
  /** `missing` are walls beyond the minimum that this host cannot build, each with the way to get it. */
  | { readonly kind: "ready"; readonly missing: readonly string[] }
  /** `reason` names what is missing, `fix` how to get it. */
  | { readonly kind: "unavailable"; readonly reason: string; readonly fix: string };

/** Whom guests are on the host. */
export interface GuestUser {
  readonly uid: number;
  readonly gid: number;
  /** True where what is mounted is shown to that user whatever the folders above it allow. */
  readonly isShown?: boolean;
}

/**
 * A way to start a guest behind walls. Bubblewrap, containers, another host: each says what it gives.
 *
 * A launcher that cannot build its minimum (network, files, processes, memory of a process) is `unavailable`; it never
 * starts a guest with less.
 */
export interface Launcher {
  readonly name: string;
  /** True where guests and the files that mounts name are on another host. Default false. */
  readonly isElsewhere?: boolean;
  /** Whom guests are on the host, where they are not the user of this process: what they are to write must be theirs. */
  readonly guestUser?: GuestUser | undefined;
  /** Resolves once, from then on from memory. */
  probe(): Promise<LauncherProbe>;
  /** Throws `CallgateError` DRIVER_FAILED when the process cannot be started at all. */
  launch(spec: LaunchSpec): LaunchedGuest;
  /** Resolves when nothing of the guests that exited is left on the host: containers, folders. Guests are their owners'. */
  close?(): Promise<void>;
}

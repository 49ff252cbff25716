import { realpathSync } from "node:fs";
import { totalmem } from "node:os";
import type { LaunchBounds, Mount } from "../launcher/launcher.ts";
import { isWithin, resolvedPath } from "../mounts/resolved-path.ts";

/** What all clients of a server may have. */
export interface ServerBounds {
  /** Guests at once. Default 32. */
  readonly guests: number;
  /** Memory and workspaces of all guests together. Default: half of this host's memory. */
  readonly memoryMiB: number;
  /** Processes of one guest. Default 128. */
  readonly processes: number;
  /** A guest that neither said nor was told anything for so long is ended. Default 30 minutes. */
  readonly idleMs: number;
  /** How long a guest whose client is away lives on. Default 20 seconds. */
  readonly graceMs: number;
}

export const defaultServerBounds: ServerBounds = { guests: 32, memoryMiB: Math.floor(totalmem() / 2 / 1024 / 1024), processes: 128, idleMs: 30 * 60_000, graceMs: 20_000 };

/** What guests hold of a server now. */
export interface Held {
  readonly guests: number;
  readonly memoryMiB: number;
}

export function memoryOf({ memoryMiB, workspaceMiB }: LaunchBounds): number {
  return memoryMiB + workspaceMiB;
}

/** Why an order is too much, with what to do; undefined when it is not. */
export function tooMuch(bounds: ServerBounds, held: Held, asked: LaunchBounds): string | undefined {
  if (held.guests >= bounds.guests) return `it runs ${held.guests} guests, which is all it may. Lower sandbox.maxGuests of its clients, or raise --guests of the server`;
  if (held.memoryMiB + memoryOf(asked) > bounds.memoryMiB) return `its guests hold ${held.memoryMiB} MiB of ${bounds.memoryMiB}, and ${memoryOf(asked)} more were asked for. Lower limits.memoryMiB or sandbox.workspaceMiB, or raise --memory of the server`;
  if (asked.processes > bounds.processes) return `a guest may have ${bounds.processes} processes there, ${asked.processes} were asked for. Lower sandbox.processes`;
  return undefined;
}

/** Mounts of the server's own disk that its person allowed, links resolved; or why one is not. */
export function allowedMounts(allowed: readonly Pick<Mount, "host" | "mode">[], asked: readonly Mount[]): readonly Mount[] | string {
  const found: Mount[] = [];
  for (const mount of asked) {
    const real = realOf(mount.host);
    const within = allowed.some(({ host, mode }) => real !== undefined && isWithin(resolvedPath(host), real) && (mount.mode !== "rw" || mode === "rw"));
    if (real === undefined || !within) return `it does not mount ${mount.host} (${mount.mode}) of its disk. Its person can allow it with --mount; folders of the client's machine cannot be mounted there`;
    found.push({ ...mount, host: real });
  }
  return found;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePrivateFolder } from "@callgate/runtime/journal";

export interface StateFileOptions {
  readonly stateFolder: string;
  /** Of the configuration: each has a file of its own. */
  readonly folder: string;
  /** Folder below the state folder. */
  readonly place: string;
  /** What is behind the name of the file, where a configuration has several in one place. */
  readonly suffix?: string | undefined;
  /** Hears of what cannot be read or written. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/** A file that the gate keeps for a configuration and can do without: neither method throws. Readable by the user alone. */
export interface StateFile {
  readonly path: string;
  read(): Uint8Array | undefined;
  /** As a whole or not at all. */
  write(bytes: Uint8Array): void;
}

export function createStateFile({ stateFolder, folder, place, suffix = "", onFault }: StateFileOptions): StateFile {
  const parent = join(stateFolder, place);
  const path = join(parent, createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16) + suffix);
  const guarded = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (fault) {
      onFault?.(fault);
      return undefined;
    }
  };
  return {
    path,
    read: () => guarded(() => (existsSync(path) ? readFileSync(path) : undefined)),
    write(bytes) {
      guarded(() => {
        makePrivateFolder(parent);
        const draft = `${path}.${process.pid}`;
        try {
          writeFileSync(draft, bytes, { mode: 0o600 });
          renameSync(draft, path);
        } finally {
          rmSync(draft, { force: true });
        }
      });
    },
  };
}

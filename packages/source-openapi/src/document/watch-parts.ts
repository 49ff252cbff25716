import type { Clock } from "@callgate/contract";
import { isUrl } from "./document-reader.ts";
import { stampOf } from "./file-stamp.ts";

/** A part of a document, and its state when it was read. */
export interface StampedPart {
  readonly location: string;
  /** Undefined: it was not there. */
  readonly stamp: string | undefined;
}

export interface PartsWatch {
  /** From now on these parts count. */
  set(parts: readonly StampedPart[]): void;
  close(): void;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** After which parts that are URLs may have changed. */
  readonly refreshMs: number;
  /** Called once after each `set`. */
  readonly onChange: () => void;
}

/** Between two looks at the files: by their state, because editors and checkouts replace files rather than write into them. */
const intervalMs = 1_000;
/** Of a document of very many files the first are watched; whoever lists the tools looks at all. */
const maxFiles = 200;

/** Tells when a document may have changed since it was read, until it is closed. */
export function watchParts({ clock, refreshMs, onChange }: WatchOptions): PartsWatch {
  let [refresh, nextLook]: ({ cancel(): void } | undefined)[] = [];
  let round = 0;
  const stop = (): void => {
    round++;
    refresh?.cancel();
    nextLook?.cancel();
  };
  const fire = (): void => {
    stop();
    onChange();
  };
  const look = async (files: readonly StampedPart[], since: number): Promise<void> => {
    for (const { location, stamp } of files) {
      if ((await stampOf(location)) !== stamp && since === round) return fire();
    }
    if (since === round) nextLook = clock.schedule(intervalMs, () => void look(files, since));
  };
  return {
    set(parts) {
      stop();
      const since = round;
      const files = parts.filter(({ location }) => !isUrl(location)).slice(0, maxFiles);
      if (parts.some(({ location }) => isUrl(location))) refresh = clock.schedule(refreshMs, fire);
      if (files.length > 0) nextLook = clock.schedule(intervalMs, () => void look(files, since));
    },
    close: stop,
  };
}

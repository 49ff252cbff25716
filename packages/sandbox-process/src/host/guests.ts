import { CallgateError, defaultLimits } from "@callgate/contract";
import type { GuestSession, SessionOptions } from "@callgate/contract";
import type { GuestLanguage } from "../language/guest-language.ts";
import type { LaunchBounds, Launcher, Mount } from "../launcher/launcher.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { createGuestPool } from "./guest-pool.ts";
import { createSessions } from "./sessions.ts";
import { createSlots } from "./slots.ts";
import { startGuest } from "./started-guest.ts";
import type { StartedGuest } from "./started-guest.ts";

/** All guests of one driver: those of runs, of which so many run at once, and those of sessions. */
export interface Guests {
  /** What brings a guest for one run. Rejects when none can be started. */
  forRun(language: GuestLanguage, memoryMiB: number): () => Promise<StartedGuest>;
  openSession(session: SessionOptions, language: GuestLanguage): GuestSession;
  /** Ends those that wait and those of sessions. */
  close(): Promise<void>;
}

export interface GuestsOptions {
  readonly launcher: Launcher;
  readonly warm: number;
  readonly maxGuests: number;
  readonly bounds: Omit<LaunchBounds, "memoryMiB">;
  readonly artifacts: ArtifactBounds;
  /** What a guest that starts now is given. Throws where that must not be. */
  readonly mountsNow: () => readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
}

export function createGuests({ launcher, warm, maxGuests, bounds, artifacts, mountsNow, environment }: GuestsOptions): Guests {
  const slots = createSlots(maxGuests);
  const common = { launcher, environment, artifacts };
  const pool = createGuestPool({
    warm,
    bounds: { ...bounds, memoryMiB: defaultLimits.memoryMiB },
    start: (language, whole) => startGuest({ ...common, mounts: mountsNow(), language, bounds: whole }),
  });
  const sessions = createSessions({
    artifacts,
    async start(language, memoryMiB) {
      await ensureReady();
      return startGuest({ ...common, mounts: mountsNow(), language, bounds: { ...bounds, memoryMiB }, isSession: true });
    },
  });

  async function ensureReady(): Promise<void> {
    const probe = await launcher.probe();
    if (probe.kind === "unavailable") throw new CallgateError("DRIVER_FAILED", `the sandbox ${launcher.name} does not work here: ${probe.reason}. To do: ${probe.fix}`);
  }

  return {
    forRun: (language, memoryMiB) => async () => {
      await ensureReady();
      await slots.take();
      try {
        const guest = pool.take(language, memoryMiB);
        // A guest that was ended computes no more: the next run does not wait until it is buried.
        guest.ending.then(() => slots.give(), () => undefined);
        return guest;
      } catch (fault) {
        slots.give();
        throw fault;
      }
    },
    openSession: (session, language) => sessions.open(session, language),
    async close() {
      await Promise.all([sessions.close(), pool.close()]);
    },
  };
}

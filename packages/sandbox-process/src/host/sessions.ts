import type { GuestSession, SessionOptions } from "@callgate/contract";
import type { GuestLanguage } from "../language/guest-language.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { createGuestSession } from "./guest-session.ts";
import type { StartedGuest } from "./started-guest.ts";

/** The sessions of one driver. */
export interface Sessions {
  open(session: SessionOptions, language: GuestLanguage): GuestSession;
  /** Ends all. */
  close(): Promise<void>;
}

export interface SessionsOptions {
  /** Starts a guest of a session. Rejects when none can be started. */
  readonly start: (language: GuestLanguage, memoryMiB: number) => Promise<StartedGuest>;
  readonly artifacts: ArtifactBounds;
}

export function createSessions({ start, artifacts }: SessionsOptions): Sessions {
  const open = new Set<GuestSession>();
  return {
    open(session, language) {
      const opened: GuestSession = createGuestSession({ session, language, artifacts, start: () => start(language, session.memoryMiB), onEnd: () => open.delete(opened) });
      open.add(opened);
      return opened;
    },
    async close() {
      await Promise.all([...open].map((session) => session.close()));
    },
  };
}

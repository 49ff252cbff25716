import type { Greet } from "./remote-connection.ts";
import type { Wire } from "./wire.ts";

export interface StayOptions {
  readonly greet: Greet;
  /** Takes a connection. Resolves with why the server refused it, or undefined when it stands (or broke again). */
  readonly open: (wire: Wire) => Promise<string | undefined>;
  /** True when nothing of the guest is left to be heard. */
  readonly isOver: () => boolean;
}

/** Pauses between tries to come back: at once, then longer, at most a second. */
const firstPauseMs = 20;
const longestPauseMs = 1_000;

/**
 * Keeps one connection after the other for a guest, as long as the server waits for its client. Resolves with why it
 * ended; before the first connection stood, a server that cannot be reached is an end, too.
 */
export async function stayConnected({ greet, open, isOver }: StayOptions): Promise<string> {
  let lostAt: number | undefined;
  let patienceMs = 0;
  let pauseMs = firstPauseMs;
  for (;;) {
    const greeting = await greet();
    if (greeting.kind === "refused") return greeting.reason;
    if (greeting.kind === "unreachable") {
      if (lostAt === undefined) return greeting.reason;
      if (performance.now() - lostAt > patienceMs) return `the connection to the server was lost and could not be had again (${greeting.reason}); the server ended the program after its grace`;
    } else {
      const { wire, welcome } = greeting;
      const refusal = await open(wire);
      if (refusal === undefined) await wire.closed;
      wire.destroy();
      if (refusal !== undefined) return refusal;
      [lostAt, pauseMs] = [performance.now(), firstPauseMs];
      // The server may notice later than we do that the connection is gone.
      patienceMs = welcome.graceMs + welcome.silenceMs;
    }
    if (isOver()) return "it is over";
    await new Promise((wake) => setTimeout(wake, pauseMs));
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}

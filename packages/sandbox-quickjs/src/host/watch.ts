import type { GuestEnd } from "@callgate/contract";
import { cpuEnd } from "../worker/guest-end.ts";
import type { LiveGuest } from "./live-guest.ts";
import type { PoolThread } from "./pool-thread.ts";
import { isBusy } from "./pool-thread.ts";

/** The engine asks many times a millisecond whether to go on; when it has not for so long, it will not soon. */
const silentAfterMs = 250;
/** How long a guest that was asked to stop may take to do so itself. */
const cancelPatienceMs = 200;

/** What is to be done about a thread. */
export interface Verdict {
  /** This guest does not stop by itself: end the thread, and the guest so. */
  readonly lose?: { readonly running: number; readonly end: GuestEnd };
  /** Guests that are not on the CPU, were asked to stop, and cannot be reached. */
  readonly giveUp: readonly LiveGuest[];
  /** Guests that wait for a thread another guest keeps busy. */
  readonly move: readonly LiveGuest[];
}

/** Looks at a thread without asking it. Called every few tens of milliseconds while guests live. */
export function judge(pooled: PoolThread, atMs: number): Verdict {
  const { running, stretch, heartbeat } = pooled.thread.glance();
  const { seen } = pooled;
  if (seen.stretch !== stretch || running === 0) Object.assign(seen, { stretch, stretchMs: atMs });
  if (seen.heartbeat !== heartbeat || running === 0) Object.assign(seen, { heartbeat, heartbeatMs: atMs });
  const others = [...pooled.guests.values()].filter((guest) => guest.key !== running);
  const giveUp = others.filter((guest) => isOverdue(guest, atMs));
  const suspect = pooled.guests.get(running);
  if (suspect === undefined) return { giveUp, move: [] };
  if (isOverdue(suspect, atMs)) return { giveUp, move: [], lose: { running, end: { kind: "cancelled" } } };
  const { cpuMs } = suspect.job.limits;
  const isSilent = atMs - seen.heartbeatMs > silentAfterMs;
  if (isSilent && atMs - seen.stretchMs > cpuMs - suspect.cpuMs + silentAfterMs) return { giveUp, move: [], lose: { running, end: cpuEnd(suspect.job.limits) } };
  const move = isBusy(pooled, atMs) ? others.filter((guest) => guest.isAwaited && guest.isRepeatable && guest.cancelledAtMs === undefined) : [];
  return { giveUp, move };
}

function isOverdue({ cancelledAtMs }: LiveGuest, atMs: number): boolean {
  return cancelledAtMs !== undefined && atMs - cancelledAtMs > cancelPatienceMs;
}

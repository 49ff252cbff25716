import { createHash } from "node:crypto";
import type { RetrySpec } from "@callgate/contract";

const DEFAULT_MIN_DELAY_MS = 200;
const DEFAULT_MAX_DELAY_MS = 5_000;

/**
 * How long to wait after a failed attempt: doubling, between half and the whole of it. The jitter comes of the call's
 * own key, so that calls spread out and a test or replay still sees the same waits. (Retry libraries wait on the host's
 * timers; all time here comes from the `Clock`.)
 *
 * @param attempt the one that failed, from 1
 */
export function backoffMs(retry: RetrySpec | undefined, attempt: number, key: string): number {
  const full = Math.min(retry?.maxDelayMs ?? DEFAULT_MAX_DELAY_MS, (retry?.minDelayMs ?? DEFAULT_MIN_DELAY_MS) * 2 ** (attempt - 1));
  const share = createHash("sha256").update(`${key} ${attempt}`).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(full * (0.5 + share / 2));
}

/** Whether the service asks for a longer pause than the tool may make: then the caller is told, and the call does not wait. */
export function asksTooMuch(retry: RetrySpec | undefined, retryAfterMs: number | undefined): boolean {
  return retryAfterMs !== undefined && retryAfterMs > (retry?.maxDelayMs ?? DEFAULT_MAX_DELAY_MS);
}

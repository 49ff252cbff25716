import { CallgateError } from "@callgate/contract";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time for people, in UTC: `2026-11-30 07:00:00`. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** A time in milliseconds since the epoch: `2026-11-30`, `2026-11-30T07:00:00Z`, or so long ago as `30m`, `24h`, `7d`. Errors: USAGE. */
export function timeOf(text: string, nowMs: number): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs];
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new CallgateError("USAGE", `"${text}" is no time; write it like 2026-11-30, 2026-11-30T07:00:00Z, or 24h for so long ago (m, h, d)`);
  return ms;
}

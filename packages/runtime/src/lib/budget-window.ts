import type { BudgetWindow } from "@callgate/contract";

/** Of a budget that never begins anew. */
export const noWindowMs = 0;

/** Begin and end of the window that a time is in, UTC. */
export function windowOf(window: BudgetWindow | undefined, nowMs: number): { readonly startMs: number; readonly endMs?: number } {
  const at = new Date(nowMs);
  const [year, month, day, hour] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()];
  switch (window) {
    case undefined:
      return { startMs: noWindowMs };
    case "hour":
      return { startMs: Date.UTC(year, month, day, hour), endMs: Date.UTC(year, month, day, hour + 1) };
    case "day":
      return { startMs: Date.UTC(year, month, day), endMs: Date.UTC(year, month, day + 1) };
    case "month":
      return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  }
}

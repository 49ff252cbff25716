import type { WireValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";

/** Counts equal calls of a run, in issue order; part of a write's idempotency key (DESIGN P6). */
export interface Occurrences {
  /** How many calls of this tool with these arguments came before this one. */
  next(tool: string, args: WireValue): number;
}

export function createOccurrences(): Occurrences {
  const counts = new Map<string, number>();
  return {
    next(tool, args) {
      // By digest, for { a, b } and { b, a } are the same arguments.
      const key = `${tool} ${readable(args)}`;
      const before = counts.get(key) ?? 0;
      counts.set(key, before + 1);
      return before;
    },
  };
}

function readable(args: WireValue): string {
  try {
    return digestOfWire(args);
  } catch {
    return "unreadable";
  }
}

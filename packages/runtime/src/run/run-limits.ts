import { CallgateError, defaultLimits } from "@callgate/contract";
import type { LimitName, RunLimits } from "@callgate/contract";
import { nearestNames } from "../lib/nearest-names.ts";

/** The limits of a gate, and those of one run within them. */
export interface LimitRules {
  readonly defaults: RunLimits;
  /** `lowered` names what the caller asked too much of. */
  forRun(asked: Partial<RunLimits> | undefined): { readonly limits: RunLimits; readonly lowered: readonly string[] };
}

const names = Object.keys(defaultLimits) as LimitName[];

/**
 * Errors: `CallgateError` USAGE for an unknown limit or one that is no whole number from 1. More than the maximum is no
 * error: the maximum is used, and the result says so.
 */
export function createLimitRules(limits: Partial<RunLimits> = {}, maximums: Partial<RunLimits> = {}): LimitRules {
  const defaults: RunLimits = { ...defaultLimits, ...checked(limits, "limits") };
  const most: RunLimits = { ...raised(defaults), ...checked(maximums, "maximums") };
  for (const name of names) {
    if (defaults[name] > most[name]) throw new CallgateError("USAGE", `The limit ${name} of ${defaults[name]} is above its maximum of ${most[name]}`);
  }
  return {
    defaults,
    forRun(asked) {
      if (asked === undefined) return { limits: defaults, lowered: [] };
      const wanted = checked(asked, "limits");
      const over = names.filter((name) => (wanted[name] ?? 0) > most[name]);
      const lowered = over.map((name) => `The limit ${name} of ${String(wanted[name])} is above the maximum of this gate; ${most[name]} was used`);
      return { limits: { ...defaults, ...wanted, ...Object.fromEntries(over.map((name) => [name, most[name]])) }, lowered };
    },
  };
}

function raised(limits: RunLimits): RunLimits {
  const tenfold = Object.fromEntries(names.map((name) => [name, limits[name] * 10])) as Record<LimitName, number>;
  return { ...tenfold, memoryMiB: Math.max(1_024, limits.memoryMiB), stackKiB: limits.stackKiB };
}

function checked(limits: Partial<RunLimits>, what: string): Partial<RunLimits> {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (!(names as readonly string[]).includes(name)) {
      const [nearest] = nearestNames(name, names);
      throw new CallgateError("USAGE", `There is no limit "${name}" (in ${what})${nearest === undefined ? `; there are ${names.join(", ")}` : `; did you mean "${nearest}"?`}`);
    }
    if (!Number.isSafeInteger(value) || value < 1) throw new CallgateError("USAGE", `The limit ${name} must be a whole number from 1, not ${String(value)}`);
  }
  return Object.fromEntries(given);
}

import type { CallSummary, RunResult } from "@callgate/contract";
import { placeOf } from "./call-ids.ts";

/**
 * What a run that did not complete did to the world (DESIGN P7): its writes by effect status. Reads change nothing and
 * are left out.
 */
export function effectsOf(calls: readonly CallSummary[]): NonNullable<RunResult["effects"]> {
  const writes = calls.filter(({ effect }) => effect !== "read");
  const named = (status: CallSummary["effectStatus"]): readonly string[] => writes.filter(({ effectStatus }) => effectStatus === status).map(nameOf);
  return { done: named("done"), unknown: named("unknown"), none: named("none") };
}

function nameOf({ tool, id, outcome }: CallSummary): string {
  return `${tool} (call ${placeOf(id)}${outcome === "ok" ? "" : `, ${outcome}`})`;
}

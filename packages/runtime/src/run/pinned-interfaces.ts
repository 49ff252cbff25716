import type { Digest, JournalEntry, RunRecord } from "@callgate/contract";

/** What a run is held to: the interfaces it was pinned to, and those its program was checked against. */
export function pinnedInterfaces(run: Pick<RunRecord, "interfaces">, entries: readonly JournalEntry[]): Readonly<Record<string, Digest>> {
  return { ...run.interfaces, ...checkedInterfaces(entries) };
}

/** The interfaces that a program was checked against, of the tools it can reach. */
export function checkedInterfaces(entries: readonly JournalEntry[]): Readonly<Record<string, Digest>> {
  const checked = entries.find((entry) => entry.kind === "checked");
  return checked?.interfaces ?? {};
}

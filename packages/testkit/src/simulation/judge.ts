import type { EffectStatus, JournalEntry, RunRecord, RunResult } from "@callgate/contract";
import type { Ledger } from "./ledger.ts";
import type { SimulatedProgram } from "./simulated-programs.ts";

export interface Evidence {
  readonly program: SimulatedProgram;
  readonly ledger: Ledger;
  readonly run: RunRecord | undefined;
  readonly result: RunResult | undefined;
  readonly entries: readonly JournalEntry[];
}

/** Holds what happened against what was promised: no effect lost, none doubled, none unknown in silence. */
export function judge({ program, ledger, run, result, entries }: Evidence): readonly string[] {
  if (run === undefined) return ledger.entries.length === 0 ? [] : [`the run is not on record, and yet ${names(ledger)} happened`];
  if (result === undefined) return [`the run never ended: it is ${run.status}, waiting for ${JSON.stringify(run.waits)}`];
  const wrong: string[] = [];
  if (result.status !== program.status) wrong.push(`the run ended ${result.status} (${result.error?.code ?? ""} ${result.error?.message ?? ""}), not ${program.status}`);
  const value = result.value?.kind === "whole" ? result.value.value : undefined;
  if (program.value !== undefined && JSON.stringify(value) !== JSON.stringify(program.value)) wrong.push(`it returned ${JSON.stringify(value)}, not ${JSON.stringify(program.value)}`);
  wrong.push(...ledgerFaults(program, ledger), ...undoFaults(program, ledger, result), ...recordFaults(entries));
  return wrong;
}

/** What the record of a run says of one write. */
export interface ReportedWrite {
  /** `plain:3` */
  readonly name: string;
  readonly effectStatus: EffectStatus;
}

/**
 * A run whose guest could not be executed again and died with its process: what it did stands on record, once, as done or
 * as unknown, and nothing that is on record as done is missing in the world.
 */
export function judgeInterrupted({ ledger, result, reported }: Pick<Evidence, "ledger" | "result"> & { readonly reported: readonly ReportedWrite[] }): readonly string[] {
  const wrong: string[] = [];
  if (result?.status !== "crashed" || result.error?.code !== "RUN_INTERRUPTED") wrong.push(`the run ended ${result?.status} (${result?.error?.code ?? ""} ${result?.error?.message ?? ""}), not crashed and RUN_INTERRUPTED`);
  for (const { tool, n, applied } of ledger.entries) {
    const name = `${tool}:${n}`;
    const told = reported.filter((write) => write.name === name).map(({ effectStatus }) => effectStatus);
    if (applied !== 1) wrong.push(`${name} happened ${applied} times`);
    if (told.length !== 1 || told[0] === "none") wrong.push(`${name} happened, and the record says ${told.join(", ") || "nothing"}`);
  }
  for (const { name, effectStatus } of reported) {
    const [tool = "", n] = name.split(":");
    if (effectStatus === "done" && ledger.find(tool, Number(n)) === undefined) wrong.push(`${name} is on record as done and did not happen`);
  }
  return wrong;
}

/** After `runs rollback`: whatever happened is undone once, or is listed for a person. */
export function judgeUndone({ ledger, result }: Pick<Evidence, "ledger" | "result">): readonly string[] {
  const remaining = result?.compensation?.remaining.map(({ tool }) => tool) ?? [];
  return ledger.entries.flatMap(({ tool, n, undone }) => (undone === 1 || (undone === 0 && remaining.includes(`t.${tool}`)) ? [] : [`${tool}:${n} was undone ${undone} times and is ${remaining.includes(`t.${tool}`) ? "" : "not "}listed`]));
}

function names({ entries }: Ledger): string {
  return entries.map(({ tool, n }) => `${tool}:${n}`).join(", ");
}

function ledgerFaults({ writes }: SimulatedProgram, ledger: Ledger): string[] {
  const wrong: string[] = [];
  for (const write of writes) {
    const [tool = "", n] = write.split(":");
    const times = ledger.find(tool, Number(n))?.applied ?? 0;
    if (times !== 1) wrong.push(`${write} happened ${times} times`);
  }
  for (const { tool, n } of ledger.entries) if (!writes.includes(`${tool}:${n}`)) wrong.push(`${tool}:${n} happened, which the program never asked for`);
  return wrong;
}

/** What should be undone is undone once, or is listed for a person; what should stay stays. */
function undoFaults({ undone }: SimulatedProgram, ledger: Ledger, result: RunResult): string[] {
  const remaining = result.compensation?.remaining.map(({ tool }) => tool) ?? [];
  return ledger.entries.flatMap(({ tool, n, undone: times }) => {
    const name = `${tool}:${n}`;
    if (!undone.includes(name)) return times === 0 ? [] : [`${name} was undone, which nobody asked for`];
    if (times === 1) return [];
    return times === 0 && remaining.includes(`t.${tool}`) ? [] : [`${name} was undone ${times} times and is ${remaining.includes(`t.${tool}`) ? "" : "not "}listed`];
  });
}

/** Each call is on record once, ends once, and each completion is delivered once. */
function recordFaults(entries: readonly JournalEntry[]): string[] {
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    const key = entry.kind === "delivered" ? `delivered ${entry.ord}` : entry.kind === "call-ended" ? `end of call ${entry.seq}` : undefined;
    if (key === undefined) continue;
    if (seen.has(key)) wrong.push(`${key} is on record twice`);
    seen.add(key);
  }
  const orders = entries.flatMap((entry) => (entry.kind === "delivered" ? [entry.ord] : []));
  if (orders.some((ord, index) => ord !== index)) wrong.push(`completions are recorded out of order: ${orders.join(" ")}`);
  return wrong;
}

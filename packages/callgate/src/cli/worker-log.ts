import { CallgateError } from "@callgate/contract";
import type { GateEvent } from "@callgate/contract";
import type { Alert } from "@callgate/runtime/alerts";
import { visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

export interface WorkerLogOptions {
  /** Of the command line: `json` makes each line an object, on standard output. */
  readonly options: { readonly json?: boolean };
  readonly terminal: Pick<Terminal, "out" | "err">;
}

/** What a worker says while it works. */
export interface WorkerLog {
  readonly event: (event: GateEvent) => void;
  readonly fault: (fault: unknown) => void;
  readonly alert: (alert: Alert) => void;
}

/** A line for each run that is taken, left or ended, and for each fault; the same fault again and again is one line a minute. */
export function createWorkerLog({ options, terminal }: WorkerLogOptions, now: () => number): WorkerLog {
  const told = new Map<string, number>();
  const say = (fact: object, words: string): void => {
    if (options.json === true) terminal.out(`${JSON.stringify({ atMs: now(), ...fact })}\n`);
    else terminal.err(`${new Date(now()).toISOString()} ${visible(words)}\n`);
  };
  return {
    event(event) {
      if (event.kind === "run-resumed") say({ kind: event.kind, runId: event.runId, reason: event.reason }, `${event.runId} ${event.reason === "due" ? "goes on" : "taken over from a lost process"}`);
      if (event.kind === "run-suspended") say({ kind: event.kind, runId: event.runId }, `${event.runId} suspended`);
      if (event.kind === "run-fenced") say({ kind: event.kind, runId: event.runId }, `${event.runId} was taken over by another process`);
      if (event.kind === "run-ended") say({ kind: event.kind, runId: event.runId, status: event.status }, `${event.runId} ${event.status}`);
    },
    alert: (alert) => say({ ...alert, kind: "alert" }, `alert ${alert.ruleId}: ${alert.message}`),
    fault(fault) {
      const code = CallgateError.is(fault) ? fault.code : "INTERNAL";
      const message = fault instanceof Error ? fault.message : String(fault);
      if (now() - (told.get(message) ?? -Infinity) < 60_000) return;
      told.set(message, now());
      say({ kind: "fault", code, message }, `fault ${code}: ${message}`);
    },
  };
}

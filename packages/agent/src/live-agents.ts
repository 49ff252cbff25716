import type { Gate, Lane } from "@callgate/contract";
import type { RunMeter } from "./run-meter.ts";

/** What a sub-agent shares with the agent that called it. */
export interface CallingAgent {
  readonly meter: RunMeter;
  readonly allows: (tool: string) => boolean;
  readonly lane: Lane;
  /** Labels of what either reads reach both. */
  readonly conversation: string;
}

/**
 * Agents whose calls are under way, by the gate's run of the call. A tool's handler is given plain data and knows no agent: this
 * is how a sub-agent behind it finds its caller, however the call came about. Nothing outlives its call, or its gate.
 */
const callersOf = new WeakMap<Gate, Map<string, CallingAgent>>();

/** Until the returned function is called. */
export function callsFor(gate: Gate, runId: string, caller: CallingAgent): () => void {
  const callers = callersOf.get(gate) ?? new Map<string, CallingAgent>();
  callersOf.set(gate, callers);
  callers.set(runId, caller);
  return () => void callers.delete(runId);
}

export function callerOf(gate: Gate, runId: string): CallingAgent | undefined {
  return callersOf.get(gate)?.get(runId);
}

import type { AgentRecord, Clock } from "@callgate/contract";
import { agentSurface } from "./agent-surface.ts";
import type { AgentSurface } from "./agent-surface.ts";
import { capabilitiesOf } from "./agent-setup.ts";
import type { AgentSetup } from "./agent-setup.ts";
import type { AgentEvent, AgentNews } from "./agent-event.ts";
import type { AgentLimits } from "./agent-options.ts";
import type { RunMeter } from "./run-meter.ts";
import type { Session } from "./session/session.ts";
import { createGateCalls } from "./tools/gate-calls.ts";
import type { GateCalls } from "./tools/gate-calls.ts";

/** One run of an agent: what the loop works with. */
export interface AgentRun {
  /** The agent that has the word. */
  setup: AgentSetup;
  /** What any agent that gets the word here is narrowed to: what the agent that called this one may. */
  readonly within: (setup: AgentSetup) => AgentSetup;
  /** Of the agent that began; who it hands over to keeps to them. */
  readonly limits: AgentLimits;
  readonly session: Session;
  /** Into whose context all that is read goes: the session's, or that of the agent that called this one. */
  readonly conversation: string;
  readonly meter: RunMeter;
  /** The turn under way, from 1. */
  turn: number;
  readonly record: AgentRecord;
  readonly clock: Clock;
  /** Aborts with the caller's, and when the wall time is over. */
  readonly signal: AbortSignal;
  /** Whether that was the caller. */
  readonly isCancelled: () => boolean;
  readonly emit: (news: AgentNews) => void;
  readonly notices: Set<string>;
  /** What was refused, by tool and arguments: the same again is answered from here, and nobody is asked twice. */
  readonly refusals: Map<string, string>;
  /** What could not be done as written, in a row. */
  repairs: string[];
  lastCode: string | undefined;
}

/** @param emit adds what every event has */
export function emitter(run: Pick<AgentRun, "session" | "turn" | "clock">, hear: (event: AgentEvent) => void): (news: AgentNews) => void {
  return (news) => hear({ atMs: run.clock.now(), sessionId: run.session.sessionId, agent: run.session.agent, turn: run.turn, ...news } as AgentEvent);
}

/** What the agent that has the word is shown now. */
export function surfaceOf(run: Pick<AgentRun, "setup" | "session" | "meter" | "conversation" | "record">): { readonly surface: AgentSurface; readonly calls: GateCalls } {
  const calls = gateCallsOf(run);
  return { surface: agentSurface({ setup: run.setup, calls, conversation: run.conversation, selected: run.session.selected }), calls };
}

/** Kinds of sources that are the host's own code. */
const ownKinds: ReadonlySet<string> = new Set(["functions", "folder"]);

export function gateCallsOf({ setup, meter, conversation, record }: Pick<AgentRun, "setup" | "meter" | "conversation" | "record">): GateCalls {
  const { gate, principal, lane, limits, options: { taskId, approvals } } = setup;
  const own = new Set(gate.namespaces({ principal }).flatMap(({ namespace, kind }) => (ownKinds.has(kind) ? [namespace] : [])));
  return createGateCalls({ gate, principal, conversation, lane, resultTokens: limits.resultTokens, taskId, suspends: approvals === "suspend", capabilities: capabilitiesOf(setup), within: (work) => record.within(work), isOwn: (tool) => own.has(tool.split(".")[0] ?? ""), caller: { meter, allows: setup.allows, lane, conversation } });
}

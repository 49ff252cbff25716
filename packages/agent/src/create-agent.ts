import { CallgateError } from "@callgate/contract";
import { linkedAbort, race } from "@callgate/runtime";
import type { Agent, TaskOptions } from "./agent.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentResult } from "./agent-result.ts";
import { emitter } from "./agent-run.ts";
import type { AgentRun } from "./agent-run.ts";
import { agentOf, agentSetup, agentSetupOf } from "./agent-setup.ts";
import type { AgentSetup } from "./agent-setup.ts";
import { eventStream } from "./event-stream.ts";
import type { Ending } from "./finish.ts";
import { runLoop } from "./loop.ts";
import { createRunMeter } from "./run-meter.ts";
import type { RunMeter } from "./run-meter.ts";
import { resumeOpen } from "./resume-open.ts";
import { loadSession, newSession, nothingSpent } from "./session/session.ts";
import type { Session } from "./session/session.ts";

/** How long sources that are still connecting are waited for. */
const readyMs = 10_000;

/**
 * Makes an agent of a model and a gate. All its calls and programs go through the gate, as its principal with `agent` set
 * to its name; nothing is held between tasks.
 *
 * Errors: `CallgateError` USAGE naming the option, TOOL_INVALID for an output that is no schema.
 */
export function createAgent(options: AgentOptions): Agent {
  const setup = agentSetup(options);
  const stream: Agent["stream"] = (task, { signal, state } = {}) =>
    eventStream((hear, stop) => runTask(setup, task, { onEvent: hear, signal: signal === undefined ? stop : AbortSignal.any([signal, stop]), ...(state === undefined ? {} : { state }) }));
  return agentOf(setup, {
    run: (task, how) => runTask(setup, task, how),
    stream,
    async resume(state, how = {}) {
      const session = loadSession(state);
      return await conduct(setup, session, { ...how, begin: (run) => resumeOpen(run, how) });
    },
  });
}

/** What a sub-agent shares with who called it. */
interface Shared {
  readonly parent?: RunMeter;
  /** Default: the session's own. */
  readonly conversation?: string;
  /** Narrows every agent that gets the word to what the caller may. Default: as each was made. */
  readonly within?: (setup: AgentSetup) => AgentSetup;
}

export async function runTask(setup: AgentSetup, task: string, { state, ...how }: TaskOptions & Shared = {}): Promise<AgentResult> {
  if (typeof task !== "string" || task.trim() === "") throw new CallgateError("USAGE", `Agent "${setup.name}": a task is a text that says something`);
  const session = state === undefined ? newSession(setup.name) : loadSession(state);
  if (session.open.length > 0) throw new CallgateError("USAGE", `Agent "${setup.name}": this conversation waits for a person; go on with resume`);
  session.task = task;
  session.spent = nothingSpent;
  session.messages.push({ role: "user", content: [{ type: "text", text: task }] });
  return await conduct(setup, session, { ...how, begin: () => Promise.resolve(undefined) });
}

interface Conducting extends Omit<TaskOptions, "state">, Shared {
  /** What comes before the first turn. */
  readonly begin: (run: AgentRun) => Promise<Ending | undefined>;
}

/** Opens what a run needs, lets the loop run, and leaves nothing behind. */
async function conduct(first: AgentSetup, session: Session, { signal, onEvent = () => undefined, parent, conversation = session.sessionId, within = (setup) => setup, begin }: Conducting): Promise<AgentResult> {
  const setup = within(withWord(first, session));
  const { gate, limits, clock, principal, options: { taskId } } = setup;
  const over = linkedAbort(...(signal === undefined ? [] : [signal]));
  const late = Number.isFinite(limits.wallMs) ? clock.schedule(limits.wallMs, () => over.abort(new DOMException("The wall time is over", "TimeoutError"))) : undefined;
  const record = gate.recordAgent({ principal, conversation, ...(taskId === undefined ? {} : { taskId }) });
  const meter = createRunMeter(limits, { parent, earlier: session.spent });
  const run: AgentRun = { setup, within, limits, session, conversation, meter, record, clock, turn: 0, signal: over.signal, isCancelled: () => signal?.aborted === true, emit: (news) => tell(news), notices: new Set(), refusals: new Map(), repairs: [], lastCode: undefined };
  const tell = emitter(run, (event: AgentEvent) => onEvent(event));
  try {
    await race(() => gate.ready(), { clock, timeoutMs: readyMs, signal: over.signal });
    record.keep("task", { agent: setup.name, task: session.task });
    return await runLoop(run, over.signal.aborted ? undefined : await begin(run));
  } catch (fault) {
    await record.end({ status: "failed" });
    throw fault;
  } finally {
    late?.cancel();
    over.unlink();
  }
}

/** A saved conversation may be another agent's: one that it was handed to. */
function withWord(setup: AgentSetup, { agent }: Session): AgentSetup {
  const seen = new Set<AgentSetup>();
  const look = (at: AgentSetup): AgentSetup | undefined => {
    if (at.name === agent) return at;
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const next of at.options.handoffs ?? []) {
      const found = look(agentSetupOf(next));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const found = look(setup);
  if (found === undefined) throw new CallgateError("USAGE", `Agent "${setup.name}": this conversation is with "${agent}", which is none of its handoffs`);
  return found;
}

import { ToolError } from "@callgate/contract";
import type { Artifact, ArtifactInput, CallCost, JsonObject, Principal, ToolContext, ToolLogger } from "@callgate/contract";
import type { Deadline } from "../lib/race.ts";
import type { Inner } from "../lib/stop.ts";
import type { ReadyCall } from "./call.ts";
import { scopedOf } from "./ask-person.ts";
import { freezeArguments } from "./frozen-arguments.ts";

export interface ContextInit {
  /** Where this attempt is told to stop. */
  readonly inner: Inner;
  /** Keeps a file of this attempt; undefined where a hook may not make any. */
  readonly store: ((artifact: ArtifactInput) => Promise<Artifact>) | undefined;
  /** Of this attempt. Undefined for a hook, in which nobody is waited for. */
  readonly deadline?: Deadline;
}

/** What a tool's code is given beside its arguments. Once the call is over it can log, and nothing else. */
export function createToolContext(call: ReadyCall, { inner, store, deadline }: ContextInit): ToolContext {
  const { seams, request, safe } = call;
  let principal: Principal | undefined;
  let log: ToolLogger | undefined;
  return Object.freeze<ToolContext>({
    // Most tools look at few of these, so they are made when asked for.
    get signal() {
      return inner.signal;
    },
    // The run's own object decides about later calls; a tool gets a copy it cannot write to.
    get principal() {
      principal ??= freezeArguments(request.principal).value as Principal;
      return principal;
    },
    runId: request.runId,
    callId: request.callId,
    get idempotencyKey() {
      return call.key.value;
    },
    get trace() {
      return seams.tracing?.contextOf(request.callId);
    },
    get log() {
      log ??= createLogger(call);
      return log;
    },
    progress(message, fraction) {
      if (call.state.over || inner.aborted) return;
      seams.emit({
        kind: "call-progressed",
        atMs: seams.clock.now(),
        runId: request.runId,
        principal: request.principal,
        callId: request.callId,
        tool: call.tool.name,
        message: safe.text(String(message)),
        ...(typeof fraction === "number" && fraction >= 0 && fraction <= 1 ? { fraction } : {}),
      });
    },
    reportCost(cost) {
      if (!call.state.over && !inner.aborted) addCost(call, cost);
    },
    ...(deadline === undefined ? {} : { waitForPerson: (wait) => waitForPerson(call, deadline, wait) }),
    attach(artifact) {
      const stored = attachOrRefuse(call, { inner, store }, artifact);
      // A handler that does not wait for its file must not end the process when the file is lost.
      stored.catch(() => undefined);
      return stored;
    },
  });
}

async function waitForPerson<Waited>(call: ReadyCall, deadline: Deadline, wait: () => Promise<Waited>): Promise<Waited> {
  const { seams, state } = call;
  const started = seams.clock.monotonic();
  const tell = (waits: boolean): void => seams.emit({ kind: "call-waiting", atMs: seams.clock.now(), ...scopedOf(call), waits });
  tell(true);
  try {
    return await deadline.pausedDuring(wait);
  } finally {
    state.personMs += seams.clock.monotonic() - started;
    if (!state.over) tell(false);
  }
}

async function attachOrRefuse(call: ReadyCall, { inner, store }: ContextInit, artifact: ArtifactInput): Promise<Artifact> {
  if (store === undefined) throw new ToolError({ code: "TOOL_FAILED", message: "A precheck cannot attach files: it must not change anything", notApplied: true });
  if (call.state.over || inner.aborted) throw new ToolError({ code: "CANCELLED", message: "The call is over; the file was not kept" });
  return await store(artifact);
}

function addCost({ state }: ReadyCall, cost: Partial<CallCost>): void {
  const { tokens = 0, microUsd = 0 } = state.reportedCost ?? {};
  const added = (value: unknown): number => (typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : 0);
  state.reportedCost = { ...(cost.tokens === undefined ? state.reportedCost : { ...state.reportedCost, tokens: tokens + added(cost.tokens) }), ...(cost.microUsd === undefined ? {} : { microUsd: microUsd + added(cost.microUsd) }) };
}

function createLogger(call: ReadyCall): ToolLogger {
  const { seams, request, safe, tool } = call;
  const write = (level: keyof ToolLogger) => (message: string, fields?: JsonObject) => {
    const plain = fields === undefined ? undefined : safe.json(fields);
    seams.log?.({
      level,
      message: safe.text(String(message)),
      ...(plain === undefined ? {} : { fields: plain }),
      atMs: seams.clock.now(),
      runId: request.runId,
      principal: request.principal,
      callId: request.callId,
      tool: tool.name,
    });
  };
  return Object.freeze({ debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") });
}

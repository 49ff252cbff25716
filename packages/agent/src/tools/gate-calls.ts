import { CallgateError } from "@callgate/contract";
import type { Artifact, CallResult, CallSummary, Capabilities, Gate, GateEvent, Handle, Lane, Principal, ProgramLanguage, RunResult } from "@callgate/contract";
import { runReport } from "@callgate/runtime";
import { callProgram, callText } from "@callgate/runtime/surface";
import type { AgentEffects, CallStatus } from "../agent-result.ts";
import { callsFor } from "../live-agents.ts";
import type { WaitingCall } from "../session/session-state.ts";
import type { CallingAgent } from "../live-agents.ts";
import type { CallAnswer, CallAt, ShownFile } from "./agent-tool.ts";
import { handoffIn } from "./handoff.ts";

/** Through what an agent reaches its gate. */
export interface GateCallsOptions {
  readonly gate: Gate;
  readonly principal: Principal;
  readonly conversation: string;
  readonly lane: Lane;
  readonly resultTokens: number;
  readonly taskId: string | undefined;
  /** Ends a run that waits for a person as suspended. */
  readonly suspends: boolean;
  /** What programs keep to: the tools of the agent. */
  readonly capabilities: Capabilities | undefined;
  /** Does what the agent asks of the gate as a part of its span. */
  readonly within: <Result>(work: () => Result) => Result;
  /** Whether what a tool answers can hand the conversation over: only functions of the host's own can. */
  readonly isOwn: (tool: string) => boolean;
  /** Whom a sub-agent behind a tool finds as its caller. */
  readonly caller: CallingAgent;
}

/** Calls and programs of an agent. All of them go through the gate, and each hears of its own approvals and progress. */
export interface GateCalls {
  call(tool: string, args: unknown, at: CallAt): Promise<CallAnswer>;
  run(code: string, how: { readonly language: ProgramLanguage; readonly lane?: Lane }, at: CallAt): Promise<CallAnswer>;
  /** Goes on with a run that waited for a person. */
  resume(waiting: Extract<WaitingCall, { kind: "approval" }>, at: CallAt): Promise<CallAnswer>;
}

export function createGateCalls(options: GateCallsOptions): GateCalls {
  const { gate, conversation, resultTokens, taskId } = options;
  const common = { conversation, budgetTokens: resultTokens, ...(taskId === undefined ? {} : { taskId }) };

  /** A fresh principal each time: the events of the call are found by it. */
  async function heard<Result>(at: CallAt, work: (principal: Principal) => Promise<Result>, runId?: string): Promise<Result> {
    const principal = { ...options.principal };
    const ends = runId === undefined ? [] : [callsFor(gate, runId, options.caller)];
    ends.push(gate.onEvent((event) => {
      if (!("principal" in event) || (event.principal !== principal && event.runId !== runId)) return;
      if (event.kind === "run-started") ends.push(callsFor(gate, event.runId, options.caller));
      tell(event, at);
    }));
    try {
      return await options.within(() => work(principal));
    } finally {
      for (const end of ends) end();
    }
  }

  async function run(code: string, { language, lane = options.lane, keeps = options.suspends, tool }: { readonly language: ProgramLanguage; readonly lane?: Lane; readonly keeps?: boolean; readonly tool?: string }, at: CallAt): Promise<CallAnswer> {
    const result = await heard(at, (principal) => gate.run(code, { ...common, principal, language, lane, signal: at.signal, ...(keeps ? { questions: "keep", suspendAfterMs: 0 } : {}), ...(options.capabilities === undefined ? {} : { capabilities: options.capabilities }) }));
    return await runAnswer(result, { callId: at.callId, program: code, tool: tool ?? "program", files: (artifacts) => filesOf(options, artifacts, at.signal) });
  }

  return {
    run,
    async call(tool, args, at) {
      const result = await heard(at, (principal) => gate.call(tool, args, { ...common, principal, lane: options.lane, signal: at.signal, ...(options.suspends ? { questions: "refuse" } : {}) }));
      // A direct call waits in its process; a program waits in the journal, and goes on whoever brings the answer.
      if (options.suspends && result.outcome.kind === "denied" && result.outcome.error.code === "APPROVAL_UNAVAILABLE") return await run(callProgram(tool, args), { language: "typescript", keeps: true, tool }, at);
      const handed = options.isOwn(tool) && result.outcome.kind === "ok" ? handoffIn(result.outcome.value) : undefined;
      return { ...callAnswer(tool, result), ...(handed === undefined ? {} : { handoff: handed }), files: await filesOf(options, result.artifacts, at.signal) };
    },
    async resume(waiting, at) {
      const { runId, program, tool } = waiting;
      const shown = await gate.runs.show(runId, { principal: options.principal });
      if (shown?.run.programText !== program) return { status: "not_executed", text: "The call was not made: what was to be approved and what is on record are not the same.", effectStatus: "none", runIds: [runId] };
      const resuming = heard(at, () => gate.runs.resume(runId, { principal: options.principal, signal: at.signal, suspendAfterMs: 0 }), runId);
      const answering = { callId: at.callId, program, tool, files: (artifacts: RunResult["artifacts"]) => filesOf(options, artifacts, at.signal) };
      return await resuming.then((result) => runAnswer(result, answering), (fault: unknown) => cannotGoOn(options, waiting, fault));
    },
  };
}

/** A run that cannot go on now (its tools have changed, its source is away) waits on; one that has ended otherwise is told as that. */
async function cannotGoOn({ gate, principal }: GateCallsOptions, waiting: Extract<WaitingCall, { kind: "approval" }>, fault: unknown): Promise<CallAnswer> {
  if (!CallgateError.is(fault) || fault.code === "CLOSED") throw fault;
  const text = `${fault.code}: ${fault.message}`;
  const status = (await gate.runs.show(waiting.runId, { principal }))?.run.status;
  if (status === "suspended") return { status: "waiting", text, effectStatus: "none", runIds: [waiting.runId], waiting };
  return { status: "failed", text, effectStatus: "unknown", runIds: [waiting.runId] };
}

function tell(event: GateEvent, { callId, emit }: CallAt): void {
  if (event.kind === "approval-asked") emit({ kind: "approval-requested", callId, question: event.question });
  if (event.kind === "approval-answered") emit({ kind: "approval-answered", callId, approvalId: event.approvalId, approved: event.approved, by: event.by });
  if (event.kind === "call-progressed") emit({ kind: "tool-call-progress", callId, tool: event.tool, message: event.message, ...(event.fraction === undefined ? {} : { fraction: event.fraction }) });
}

const statusOfOutcome = { ok: "ok", denied: "not_executed", invalid_input: "invalid", failed: "failed", timed_out: "failed", invalid_output: "failed", limit_exceeded: "failed", cancelled: "cancelled" } as const satisfies Record<CallResult["outcome"]["kind"], CallStatus>;

const doNotRetry = "It was refused and did not happen. Do not call it again; go on without it, or tell the user what is missing.";

function callAnswer(tool: string, result: CallResult): CallAnswer {
  const { outcome, runId, shaped, cost } = result;
  const status = statusOfOutcome[outcome.kind];
  // The result of a call may be withheld after it took place: that is no call that did not happen.
  const isRefusal = status === "not_executed" && outcome.effectStatus === "none";
  return {
    status: isRefusal || status !== "not_executed" ? status : "failed",
    text: isRefusal ? `${callText(result)}\n${doNotRetry}` : callText(result),
    effectStatus: outcome.effectStatus,
    runIds: [runId],
    brief: shaped?.handle === undefined ? `${tool}: ${outcome.kind}` : `${tool}: ${outcome.kind}; its result is kept as ${shaped.handle}${briefOutline(shaped)}`,
    effects: { done: outcome.effectStatus === "done" ? [`${tool} (${result.callId})`] : [], unknown: outcome.effectStatus === "unknown" ? [`${tool} (${result.callId})`] : [] },
    microUsd: cost?.microUsd ?? 0,
  };
}

/** The keys of what there was, so that the model knows what to read again. */
function briefOutline(shaped: NonNullable<CallResult["shaped"]>): string {
  const value = shaped.kind === "whole" ? shaped.value : shaped.outline;
  if (Array.isArray(value)) return ` (${shaped.kind === "whole" ? `${value.length} items` : "a list"})`;
  if (typeof value !== "object" || value === null) return "";
  return ` (${Object.keys(value).slice(0, 12).join(", ")})`;
}

interface RunAnswering {
  readonly callId: string;
  readonly program: string;
  /** What the call is reported as. */
  readonly tool: string;
  readonly files: (artifacts: RunResult["artifacts"]) => Promise<readonly ShownFile[]>;
}

async function runAnswer(result: RunResult, { callId, program, tool, files }: RunAnswering): Promise<CallAnswer> {
  const questions = (result.waits ?? []).flatMap((wait) => (wait.kind === "approval" ? [wait.question] : []));
  const effects = effectsOf(result);
  const text = runReport(result);
  return {
    status: statusOfRun(result),
    text: isRefusedRun(result) ? `${text}\n${doNotRetry}` : text,
    effectStatus: effects.unknown.length > 0 ? "unknown" : effects.done.length > 0 ? "done" : "none",
    runIds: [result.runId],
    brief: `${tool}: ${result.status}${result.value?.handle === undefined ? "" : `; its value is kept as ${result.value.handle}${briefOutline(result.value)}`}`,
    files: await files(result.artifacts),
    effects,
    microUsd: result.cost?.microUsd ?? 0,
    ...(result.status === "suspended" ? { waiting: { kind: "approval" as const, callId, tool, runId: result.runId, program, questions: questions.map(({ approvalId, tool: asked, reason }) => ({ approvalId, tool: asked, reason })) } } : {}),
  };
}

/** What was changed by a run, whatever became of the run. What was undone is not. */
function effectsOf({ calls, compensation }: Pick<RunResult, "calls" | "compensation">): AgentEffects {
  const undone = new Set(compensation?.undone ?? []);
  const line = ({ tool, id }: CallSummary): string => `${tool} (${id})`;
  const of = (status: CallSummary["effectStatus"]): readonly string[] => calls.filter((call) => call.effectStatus === status && call.simulated === undefined && !undone.has(call.id)).map(line);
  return { done: of("done"), unknown: of("unknown") };
}

function statusOfRun(result: RunResult): CallStatus {
  switch (result.status) {
    case "completed":
      return "ok";
    case "suspended":
    case "running":
      return "waiting";
    case "cancelled":
      return "cancelled";
    case "rejected":
      return isRefusedRun(result) ? "not_executed" : "invalid";
    case "failed":
    case "limit":
    case "crashed":
    case "diverged":
      return isRefusedRun(result) ? "not_executed" : "failed";
  }
}

const refusals: ReadonlySet<string> = new Set(["DENIED", "APPROVAL_UNAVAILABLE"]);

/** A person, or a policy, said no to the program or to what it could not do without: nothing to be repaired. */
function isRefusedRun({ error, status }: RunResult): boolean {
  return status !== "completed" && error !== undefined && refusals.has(error.code);
}

/** Pictures of one answer; what is beyond is only named. */
const maxPictureBytes = 4 * 1024 * 1024;

/** A picture is shown as one. Its bytes are never text for the model. */
async function filesOf({ gate, principal, conversation }: GateCallsOptions, artifacts: readonly (Artifact & { readonly handle: Handle })[], signal: AbortSignal): Promise<readonly ShownFile[]> {
  const files: ShownFile[] = [];
  let leftBytes = maxPictureBytes;
  for (const { mimeType, sizeBytes, handle } of artifacts) {
    if (!mimeType.startsWith("image/") || sizeBytes > leftBytes || signal.aborted) continue;
    const read = await gate.read(handle, { principal, conversation, signal });
    if (read.kind !== "artifact") continue;
    leftBytes -= read.bytes.length;
    files.push({ mediaType: mimeType, base64: Buffer.from(read.bytes).toString("base64") });
  }
  return files;
}

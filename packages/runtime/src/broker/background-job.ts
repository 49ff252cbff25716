import { BackgroundJob, decodeValue } from "@callgate/contract";
import type { JsonValue, PollAnswer } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Ended, ReadyCall } from "./call.ts";
import type { CallPast, ParkedCall } from "./call-past.ts";
import { ended, withEffect } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import type { Performed } from "./perform.ts";
import { createToolContext } from "./tool-context.ts";
import { validateOutput } from "./validate-output.ts";

const maxTokenBytes = 4 * 1024;
const minPollMs = 100;
const defaultPollMs = 5_000;

type Job = NonNullable<CallPast["job"]>;

/** A tool said that its work goes on without it: that is written down, and the call is parked until the work has ended. */
export async function parkJob(call: ReadyCall, { value, attempts }: Performed): Promise<Ended | ParkedCall> {
  if (!BackgroundJob.is(value)) throw new TypeError("not a job");
  const { seams, request, tool, record } = call;
  const token: JsonValue = structuredClone(value.token);
  const unknown = call.effect === "read" ? "none" : "unknown";
  if (Buffer.byteLength(JSON.stringify(token) ?? "") > maxTokenBytes) {
    return ended({ outcome: "invalid_output", code: "INVALID_OUTPUT", tool: tool.name, message: withEffect(`The token of the background job of ${tool.name} is over ${maxTokenBytes} bytes, so the job cannot be followed`, call.effect, unknown), effectStatus: unknown, attempts });
  }
  const atMs = seams.clock.now();
  const untilMs = atMs + value.maxMs;
  const pollAfterMs = tool.tool.poll === undefined ? undefined : Math.max(minPollMs, value.pollAfterMs);
  record.add({ kind: "call-backgrounded", atMs, seq: request.seq, token, ...(pollAfterMs === undefined ? {} : { pollAfterMs }), untilMs });
  const unrecorded = await flushIntent(call, "full");
  if (unrecorded !== undefined) return ended({ outcome: "failed", code: "INTERNAL", tool: tool.name, message: withEffect(`The background job of ${tool.name} was started and could not be written down, so it is not followed`, call.effect, unknown), effectStatus: unknown, attempts });
  return parked(call, { token, untilMs, ...(pollAfterMs === undefined ? {} : { pollAtMs: atMs + pollAfterMs }) });
}

/** Goes on with a call whose work is outside: its end was told, or is asked for; else it stays parked. */
export async function settleJob(call: ReadyCall, job: Job): Promise<Ended | ParkedCall> {
  const said = call.request.past?.said;
  if (said?.kind === "job") {
    if (said.result.kind === "value") return await finished(call, { kind: "done", output: said.result.value.clear === undefined ? undefined : decodeValue(said.result.value.clear) });
    return said.result.error.code === "CANCELLED" ? await stopJob(call, job) : failed(call, said.result.error);
  }
  const nowMs = call.seams.clock.now();
  if (nowMs < job.untilMs) return await poll(call, job);
  const effectStatus = call.effect === "read" ? "none" : "unknown";
  const message = withEffect(`The background job of ${call.tool.name} did not end in time`, call.effect, effectStatus);
  return ended({ outcome: "timed_out", code: "TOOL_TIMEOUT", tool: call.tool.name, message, effectStatus });
}

/** Lets the tool stop the work outside. A hook that fails, or is none, has stopped nothing: then nobody knows what becomes of it. */
export async function stopJob(call: ReadyCall, { token }: Pick<Job, "token">): Promise<Ended> {
  const { tool, name } = call.tool;
  const hook = tool.cancelJob?.bind(tool);
  const asked = hook === undefined ? undefined : await race(async (inner) => await hook(token, createToolContext(call, { inner, store: undefined })), { clock: call.seams.clock, timeoutMs: tool.timeoutMs });
  const isUndone = asked?.kind === "value" && typeof asked.value === "object" && asked.value.notApplied === true;
  const effectStatus = call.effect === "read" || isUndone ? "none" : "unknown";
  const stopped = asked?.kind === "value" ? "was cancelled, and its tool stopped it" : hook === undefined ? "was cancelled; its tool cannot stop it, so it may go on" : "was cancelled, and its tool failed to stop it";
  return ended({ outcome: "cancelled", code: "CANCELLED", tool: name, message: withEffect(`The background job of ${name} ${stopped}`, call.effect, effectStatus), effectStatus, attempts: 1 });
}

async function poll(call: ReadyCall, job: Job): Promise<Ended | ParkedCall> {
  const { tool } = call.tool;
  const { clock } = call.seams;
  if (tool.poll === undefined || clock.now() < (job.pollAtMs ?? 0)) return parked(call, job);
  const hook = tool.poll.bind(tool);
  const asked = await race(async (inner) => await hook(job.token, createToolContext(call, { inner, store: undefined })), { clock, timeoutMs: tool.timeoutMs, stop: call.stop });
  // A poll that fails has found out nothing: the job is asked about again.
  const answer: PollAnswer = asked.kind === "value" && isAnswer(asked.value) ? asked.value : { kind: "pending" };
  switch (answer.kind) {
    case "done":
      return await finished(call, answer);
    case "failed":
      return failed(call, answer);
    case "pending":
      if (answer.message !== undefined) tellProgress(call, answer.message, answer.fraction);
      return parked(call, { ...job, pollAtMs: clock.now() + Math.max(minPollMs, answer.pollAfterMs ?? defaultPollMs) });
  }
}

function tellProgress({ seams, request, tool, safe }: ReadyCall, message: string, fraction: number | undefined): void {
  const known = typeof fraction === "number" && fraction >= 0 && fraction <= 1 ? { fraction } : {};
  seams.emit({ kind: "call-progressed", atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name, message: safe.text(String(message)), ...known });
}

/** Hooks are foreign code: what is no answer tells nothing. */
function isAnswer(value: unknown): value is PollAnswer {
  const kind: unknown = typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
  return kind === "done" || kind === "failed" || kind === "pending";
}

async function finished(call: ReadyCall, { output: value, notApplied = false }: Extract<PollAnswer, { readonly kind: "done" }>): Promise<Ended> {
  return await validateOutput(call, { kind: "performed", value, artifacts: [], attempts: 1, notApplied });
}

function failed(call: ReadyCall, { code, message }: { readonly code: string; readonly message: string }): Ended {
  const effectStatus = call.effect === "read" ? "none" : "unknown";
  return ended({ outcome: "failed", code, tool: call.tool.name, message: withEffect(call.safe.text(message), call.effect, effectStatus), effectStatus, attempts: 1 });
}

function parked({ request, tool }: ReadyCall, job: Job): ParkedCall {
  const { seq, callId } = request;
  return { kind: "parked", wait: { kind: "job", seq, callId, tool: tool.name, ...job }, past: { issued: true, begun: true, resolved: request.past?.resolved ?? 0, job } };
}

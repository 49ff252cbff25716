import { decodeValue, encodeValue, ValueError } from "@callgate/contract";
import type { AfterAnswer, BeforeAnswer, CallOutcome, InterceptedCall, InterceptedHow, Interceptor, RecordedValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { race } from "../lib/race.ts";
import type { Inner } from "../lib/stop.ts";
import { denied } from "./approve.ts";
import type { Ended, FrozenArguments, ReadyCall } from "./call.ts";
import { ended, withEffect, withStatus } from "./ended.ts";
import { freezeArguments } from "./frozen-arguments.ts";
import { isEnded } from "./is-ended.ts";
import { replaceArguments } from "./replace-arguments.ts";
import { readThrown } from "./thrown.ts";
import { cancelledBefore, validateInput } from "./validate-input.ts";
import { validateOutput } from "./validate-output.ts";

const defaultTimeoutMs = 5_000;

const none: readonly Interceptor[] = [];

/** A call that interceptors let through: as it came, or with other arguments. */
export interface LetThrough {
  readonly kind: "through";
  readonly call: ReadyCall;
  /** Its arguments are not those that were decided about. */
  readonly isTransformed: boolean;
  /** As interceptors see them. */
  readonly args: FrozenArguments;
}

/** Those that mean the call; none for one whose work goes on outside. */
export function interceptorsOf({ seams, tool }: ReadyCall): readonly Interceptor[] {
  return seams.interceptors?.(tool.name) ?? none;
}

/**
 * Hands the call to the interceptors, in their order. What one makes of the arguments is taken as if the program had
 * written it: copied, measured, frozen, held against the schema; the next one, the policy, people and the tool see that.
 */
export async function interceptBefore(given: ReadyCall, interceptors: readonly Interceptor[]): Promise<LetThrough | Ended> {
  let through: LetThrough = { kind: "through", call: given, isTransformed: false, args: given.written };
  for (const interceptor of interceptors) {
    if (interceptor.before === undefined) continue;
    const answer = await lookBefore(through, interceptor);
    if (answer === undefined) continue;
    if (isEnded(answer)) return answer;
    through = answer;
  }
  return through;
}

async function lookBefore(through: LetThrough, interceptor: Interceptor): Promise<LetThrough | Ended | undefined> {
  const { call } = through;
  const asked = await race(async (inner) => await interceptor.before?.(shown(through, inner)), { clock: call.seams.clock, timeoutMs: interceptor.timeoutMs ?? defaultTimeoutMs, stop: call.stop });
  if (asked.kind === "cancelled") return cancelledBefore(call.tool.name);
  if (asked.kind === "value" && asked.value === undefined) return undefined;
  const answer = asked.kind === "value" ? readBefore(asked.value) : undefined;
  if (answer === undefined) {
    log(call, interceptor, asked);
    return refused(call, interceptor, { how: "failed", reason: `The interceptor ${interceptor.name} could not judge the call` });
  }
  switch (answer.kind) {
    case "deny":
      return refused(call, interceptor, { how: "denied", reason: String(answer.reason) });
    case "answer":
      return await answeredInstead(call, interceptor, answer.value);
    case "transform":
      return await transformed(through, interceptor, answer.args);
  }
}

/** Notes the refusal as what was decided about the call. */
function refused(call: ReadyCall, interceptor: Interceptor, { how, reason }: { readonly how: InterceptedHow; readonly reason: string }): Ended {
  const { seams, request, record, tool, safe } = call;
  told(call, interceptor, { how });
  const decided = { decision: "deny", ruleId: `interceptor:${interceptor.name}` } as const;
  const atMs = seams.clock.now();
  record.add({ kind: "call-decided", atMs, seq: request.seq, ...decided, reason: safe.text(reason) });
  seams.emit({ kind: "call-decided", atMs, runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name, ...decided });
  return denied(call, { ...decided, reason });
}

/** What the host's code returned, if it is one of the answers there are. */
function readBefore(value: unknown): BeforeAnswer | undefined {
  if (typeof value !== "object" || value === null || !("kind" in value)) return undefined;
  const { kind } = value;
  return kind === "transform" || kind === "answer" || kind === "deny" ? (value as BeforeAnswer) : undefined;
}

/** The tool is not called: whatever it is, nothing was changed. */
async function answeredInstead(call: ReadyCall, interceptor: Interceptor, value: unknown): Promise<Ended> {
  if (call.request.undo !== undefined) return refused(call, interceptor, { how: "denied", reason: `The interceptor ${interceptor.name} answered in the place of what undoes the call` });
  told(call, interceptor, { how: "answered" });
  const end = await validateOutput({ ...call, effect: "read" }, { kind: "performed", value, artifacts: [], attempts: 0 });
  return { ...end, answeredBy: interceptor.name };
}

async function transformed({ call, args: before }: LetThrough, interceptor: Interceptor, given: unknown): Promise<LetThrough | Ended> {
  const taken = takeArguments(call, given);
  if (isEnded(taken)) {
    told(call, interceptor, { how: "failed" });
    return taken;
  }
  const valid = await validateInput(call, call.tool, taken.args);
  if (isEnded(valid)) {
    told(call, interceptor, { how: "failed" });
    return valid;
  }
  const changed = replaceArguments(call, { args: valid.args, written: taken.args });
  told(call, interceptor, { how: "transformed", args: { digest: taken.digest, summary: changed.argsSummary } });
  const isSame = taken.digest === call.argsDigest;
  return { kind: "through", isTransformed: !isSame, args: isSame ? before : taken.args, call: { ...changed, argsDigest: taken.digest } };
}

function takeArguments(call: ReadyCall, given: unknown): { readonly args: FrozenArguments; readonly digest: ReadyCall["argsDigest"] } | Ended {
  const { argumentBytes } = call.request.limits;
  try {
    const wire = encodeValue(given);
    if (Buffer.byteLength(wire.json) > argumentBytes) throw new ValueError("VALUE_TOO_LARGE", `The arguments an interceptor made are over ${argumentBytes} bytes (argumentBytes)`, "");
    return { args: freezeArguments(decodeValue(wire)), digest: digestOfWire(wire) };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return ended({ outcome: "invalid_input", code: error.code, tool: call.tool.name, message: `${error.message}. Nothing was changed.`, path: error.path });
  }
}

/** Hands the end of a call to the interceptors, in the reverse order. */
export async function interceptAfter(call: ReadyCall, given: Ended, interceptors: readonly Interceptor[]): Promise<Ended> {
  if (call.request.undo !== undefined) return given;
  let end = given;
  for (const interceptor of interceptors.toReversed()) if (interceptor.after !== undefined) end = await lookAfter(call, end, interceptor);
  return end;
}

async function lookAfter(call: ReadyCall, end: Ended, interceptor: Interceptor): Promise<Ended> {
  const through: LetThrough = { kind: "through", call, isTransformed: false, args: call.written };
  // Cancelling now would lose what is already known; only the deadline counts.
  const asked = await race(async (inner) => await interceptor.after?.(shown(through, inner), shownOutcome(end)), { clock: call.seams.clock, timeoutMs: interceptor.timeoutMs ?? defaultTimeoutMs });
  if (asked.kind === "value" && asked.value === undefined) return end;
  const { effectStatus } = end.outcome;
  if (asked.kind === "value" && isReplacement(asked.value) && end.outcome.kind === "ok") {
    const made = await validateOutput(call, { kind: "performed", value: asked.value.value, artifacts: end.outcome.artifacts, attempts: end.attempts });
    told(call, interceptor, { how: made.outcome.kind === "ok" ? "replaced" : "failed" });
    // What became of the world is not for an interceptor to say.
    return { ...end, ...made, cached: end.cached, outcome: withStatus(made.outcome, effectStatus) };
  }
  told(call, interceptor, { how: "failed" });
  log(call, interceptor, asked);
  const message = withEffect(`${call.tool.name} came to its end, and the interceptor ${interceptor.name} failed on its outcome`, call.effect, effectStatus);
  return ended({ outcome: "failed", code: "INTERCEPTOR_FAILED", tool: call.tool.name, message, effectStatus, attempts: end.attempts });
}

function isReplacement(value: unknown): value is AfterAnswer {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "replace" && "value" in value;
}

/** A value of its own: what it does to it changes nothing. */
function shownOutcome({ outcome, wire }: Ended): CallOutcome {
  return outcome.kind === "ok" && wire !== undefined ? { ...outcomeOf(outcome), value: decodeValue(wire, { maxDepth: Number.POSITIVE_INFINITY, maxNodes: Number.POSITIVE_INFINITY, maxChars: Number.POSITIVE_INFINITY }) } : outcome;
}

function outcomeOf({ effectStatus, artifacts }: Extract<CallOutcome, { kind: "ok" }>): Pick<Extract<CallOutcome, { kind: "ok" }>, "kind" | "effectStatus" | "artifacts"> {
  return { kind: "ok", effectStatus, artifacts };
}

function shown({ call: { request, tool }, args }: LetThrough, inner: Inner): InterceptedCall {
  return Object.freeze<InterceptedCall>({
    tool: tool.name,
    namespace: tool.namespace,
    spec: tool.tool,
    get args() {
      return args.take();
    },
    // The run's own object decides about later calls.
    principal: freezeArguments(request.principal).value as InterceptedCall["principal"],
    lane: request.lane,
    runId: request.runId,
    callId: request.callId,
    isUndo: request.undo !== undefined,
    isRehearsal: request.rehearsal !== undefined,
    get signal() {
      return inner.signal;
    },
  });
}

function told({ seams, record, request, tool }: ReadyCall, { name }: Interceptor, { how, args }: { readonly how: InterceptedHow; readonly args?: RecordedValue }): void {
  const atMs = seams.clock.now();
  record.add({ kind: "call-intercepted", atMs, seq: request.seq, by: name, how, ...(args === undefined ? {} : { args }) });
  seams.emit({ kind: "call-intercepted", atMs, runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name, by: name, how });
}

/** What went wrong in the host's code is the host's to read, not the program's. */
function log({ seams, request, tool, safe }: ReadyCall, { name, timeoutMs = defaultTimeoutMs }: Interceptor, asked: Awaited<ReturnType<typeof race>>): void {
  const why = asked.kind === "threw" ? readThrown(asked.error, [], safe).message : asked.kind === "timed_out" ? `no answer within ${timeoutMs} ms` : "it returned no answer that there is";
  seams.log?.({ level: "error", message: `Interceptor ${name}: ${why}`, atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name });
}


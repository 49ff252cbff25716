import { SourceReturn, ToolError } from "@callgate/contract";
import type { Artifact, ArtifactInput, EffectStatus, ToolContext } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Deadline, Raced } from "../lib/race.ts";
import type { Attempted, Verdict } from "../limits/circuit-breakers.ts";
import type { Inner } from "../lib/stop.ts";
import { asksTooMuch, backoffMs } from "./backoff.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended, inDoubtStill, withEffect } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import { circuitOpen, mayTryAgain } from "./limit.ts";
import { takeArguments } from "./secret-arguments.ts";
import { storeArtifact } from "./store-artifact.ts";
import { readThrown } from "./thrown.ts";
import type { Thrown } from "./thrown.ts";
import { createToolContext } from "./tool-context.ts";
import type { ToolSlot } from "./tool-slots.ts";
import { cancelledBefore } from "./validate-input.ts";

/** What a tool gave, not yet held against its output schema. */
export interface Performed {
  readonly kind: "performed";
  readonly value: unknown;
  readonly artifacts: readonly Artifact[];
  readonly attempts: number;
  /** The tool says that nothing was changed. */
  readonly notApplied?: boolean;
}

/** A result that came when its call was over. */
export type LateEnd = Extract<Raced<unknown>, { kind: "value" | "threw" }>;

/**
 * Runs the tool, each attempt under its own deadline, and again only where the tool declared that safe. Nothing else in
 * Callgate calls `source.call`.
 *
 * @param late hears of the end of an attempt that was given up
 * @param slot held while an attempt is at it, given up or not
 */
export async function perform(call: ReadyCall, late: (end: LateEnd, attempt: number) => void, slot: ToolSlot): Promise<Performed | Ended> {
  const { clock } = call.seams;
  let doubt: EffectStatus = "none";
  for (let attempt = 1; ; attempt++) {
    if (call.stop.aborted) return attempt === 1 ? cancelledBefore(call.tool.name) : cancelled(call, { doubt, attempts: attempt - 1 });
    const storing: Promise<Artifact>[] = [];
    const attempted = await throughCircuit(call, () => runAttempt(call, { attempt, storing, late, slot }));
    if (attempted.kind === "open") return circuitOpen(call, { retryAfterMs: attempted.retryAfterMs, doubt, attempts: attempt - 1 });
    const end = attempted.value;
    if (end.kind === "value") return await collect(call, { value: end.value, storing, attempts: attempt });
    const thrown = end.kind === "threw" ? readThrown(end.error, call.tool.tool.errors, call.safe) : undefined;
    // Doubt about an earlier attempt is not lifted by a later one that is sure of itself.
    if (call.effect !== "read" && thrown?.notApplied !== true) doubt = "unknown";
    if (!mayRetry(call, { end, thrown, attempt })) return failed(call, { end, thrown, doubt, attempts: attempt });
    await race(() => new Promise<never>(() => undefined), { clock, timeoutMs: Math.max(backoffMs(call.tool.tool.retry, attempt, call.key.value), thrown?.retryAfterMs ?? 0), stop: call.stop });
    if (!call.stop.aborted && !(await mayTryAgain(call))) return failed(call, { end, thrown, doubt, attempts: attempt });
    // A process that stood still meanwhile may have lost its run: then somebody else decides about this write.
    const refused = call.effect === "read" || call.stop.aborted ? undefined : await flushIntent(call, "full");
    if (refused !== undefined) return { ...(doubt === "unknown" ? inDoubtStill(call, refused) : refused), attempts: attempt };
  }
}

/** Lets the source's circuit breaker see how an attempt came out, or refuse it. */
async function throughCircuit(call: ReadyCall, attempt: () => Promise<Raced<unknown>>): Promise<Attempted<Raced<unknown>>> {
  const breakers = call.seams.limits?.breakers;
  return breakers === undefined ? { kind: "made", value: await attempt() } : await breakers.attempt(call.tool.namespace, attempt, (end) => verdictOn(call, end));
}

/** A fault of the source: it did not answer, could not be reached, or failed in a way that may pass. What a tool means to say is an answer. */
function verdictOn(call: ReadyCall, end: Raced<unknown>): Verdict {
  switch (end.kind) {
    case "value":
      return "answered";
    case "timed_out":
      return "fault";
    case "cancelled":
      return "unknown";
    case "threw": {
      const { code, retryable } = readThrown(end.error, call.tool.tool.errors, call.safe);
      return code === "SOURCE_UNAVAILABLE" || retryable !== false ? "fault" : "answered";
    }
  }
}

interface Attempt {
  readonly attempt: number;
  /** Files on their way into the blob store. */
  readonly storing: Promise<Artifact>[];
  readonly late: (end: LateEnd, attempt: number) => void;
  readonly slot: ToolSlot;
}

function runAttempt(call: ReadyCall, { attempt, storing, late, slot }: Attempt): Promise<Raced<unknown>> {
  const { seams, request, tool, state } = call;
  seams.emit({ kind: "call-started", atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name, attempt });
  state.attempts = attempt;
  const store = (artifact: ArtifactInput): Promise<Artifact> => {
    const stored = storeArtifact(call, artifact);
    storing.push(stored);
    return stored;
  };
  const work = (inner: Inner, deadline: Deadline): Promise<unknown> => slot.hold(reach(call, createToolContext(call, { inner, store, deadline })));
  return race(work, {
    clock: seams.clock,
    timeoutMs: tool.tool.timeoutMs,
    stop: call.stop,
    late: (end) => {
      late(end, attempt);
    },
  });
}

/** The tool's code: to do it or, for a call that undoes another, to undo it. */
function reach(call: ReadyCall, context: ToolContext): Promise<unknown> {
  const { seams, tool, request } = call;
  const code = (): Promise<unknown> => (request.undo === undefined ? tool.source.call(tool.tool.name, takeArguments(call), context) : undo(call, request.undo.output, context));
  return seams.tracing === undefined ? code() : seams.tracing.within(request.callId, code);
}

async function undo(call: ReadyCall, output: unknown, context: ToolContext): Promise<undefined> {
  const { tool } = call;
  if (tool.tool.compensate === undefined) throw new ToolError({ code: "TOOL_FAILED", message: `${tool.name} declares no way to undo it`, notApplied: true });
  await tool.tool.compensate(takeArguments(call), output, context);
  return undefined;
}

interface Given {
  readonly value: unknown;
  readonly storing: readonly Promise<Artifact>[];
  readonly attempts: number;
}

/**
 * Keeps the files a source returned beside its value, and waits for those that were attached without waiting for them. A
 * handler that attached one was told if it was lost. The call has happened; only its files can still be lost.
 */
async function collect(call: ReadyCall, { value, storing, attempts }: Given): Promise<Performed | Ended> {
  const artifacts = storing.length === 0 ? [] : (await Promise.allSettled(storing)).flatMap((stored) => (stored.status === "fulfilled" ? [stored.value] : []));
  if (!SourceReturn.is(value)) return { kind: "performed", value, artifacts, attempts };
  try {
    for (const artifact of value.artifacts) artifacts.push(await storeArtifact(call, artifact));
  } catch (error) {
    const effectStatus = call.effect === "read" || value.notApplied ? "none" : "done";
    const message = withEffect(`The files of the result could not be kept: ${readThrown(error, [], call.safe).message}`, call.effect, effectStatus);
    return ended({ outcome: "failed", code: "INTERNAL", tool: call.tool.name, message, effectStatus, retryable: call.effect === "read", attempts });
  }
  return { kind: "performed", value: value.value, artifacts, attempts, notApplied: value.notApplied };
}

interface Failure {
  readonly end: Exclude<Raced<unknown>, { kind: "value" }>;
  readonly thrown: Thrown | undefined;
}

/** Only what the tool declared, never what was cancelled, and a write never while an earlier attempt may still be at it. */
function mayRetry(call: ReadyCall, { end, thrown, attempt }: Failure & { readonly attempt: number }): boolean {
  if (attempt > (call.tool.tool.retry?.retries ?? 0)) return false;
  switch (end.kind) {
    case "threw":
      return thrown?.retryable !== false && !asksTooMuch(call.tool.tool.retry, thrown?.retryAfterMs);
    case "timed_out":
      return call.effect === "read";
    case "cancelled":
      return false;
  }
}

function failed(call: ReadyCall, { end, thrown, doubt, attempts }: Failure & { readonly doubt: EffectStatus; readonly attempts: number }): Ended {
  const common = { tool: call.tool.name, effectStatus: doubt, attempts };
  const times = attempts > 1 ? ` (${attempts} attempts)` : "";
  switch (end.kind) {
    case "threw": {
      const { code, message, retryable = false, details } = thrown ?? { code: "TOOL_FAILED", message: "The tool failed", retryable: false };
      return ended({ ...common, outcome: "failed", code, message: withEffect(message + times, call.effect, doubt), retryable, ...(details === undefined ? {} : { details }) });
    }
    case "timed_out": {
      const message = `${call.tool.name} did not answer within ${call.tool.tool.timeoutMs} ms${times}`;
      return ended({ ...common, outcome: "timed_out", code: "TOOL_TIMEOUT", message: withEffect(message, call.effect, doubt), retryable: call.effect === "read" });
    }
    case "cancelled":
      return cancelled(call, { doubt, attempts });
  }
}

function cancelled(call: ReadyCall, { doubt, attempts }: { readonly doubt: EffectStatus; readonly attempts: number }): Ended {
  const message = withEffect(`The call of ${call.tool.name} was cancelled while it was under way`, call.effect, doubt);
  return ended({ outcome: "cancelled", code: "CANCELLED", tool: call.tool.name, message, effectStatus: doubt, attempts });
}

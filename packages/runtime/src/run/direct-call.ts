import { encodeValue, ValueError } from "@callgate/contract";
import type { CallError, CallOutcome, CallResult, Lane, OutcomeKind, Principal, RunFinish, RunLimits, RunStart, ShapedValue } from "@callgate/contract";
import { denyingApprover } from "../approval/approvers.ts";
import type { PerformedCall } from "../broker/call.ts";
import { digestOf } from "../lib/digest.ts";
import { newRunId } from "../lib/new-id.ts";
import { taintScopes } from "../provenance/taint-scopes.ts";
import { cutError } from "../result/cut-channels.ts";
import { shapeValue } from "../result/shape-run.ts";
import type { TokenCounter } from "../result/token-counter.ts";
import { callOfRun } from "./call-of-run.ts";
import type { CatalogView } from "./catalog-view.ts";
import { performAlive } from "./perform-alive.ts";
import { createKeptValues } from "./kept-values.ts";
import type { KeptValues } from "./kept-values.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import { createFence, createNotices } from "./run-scope.ts";
import type { RunScope, RunSeams } from "./run-scope.ts";
import { createTokenMeter } from "./token-meter.ts";

/** One direct call as the gate asks for it. */
export interface DirectCallRequest {
  readonly tool: string;
  readonly args: unknown;
  readonly view: CatalogView;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly limits: RunLimits;
  readonly budgetTokens: number;
  readonly taskId: string | undefined;
  readonly conversation: string | undefined;
  readonly questions: "refuse" | undefined;
  readonly signal: AbortSignal;
}

/** What is around a shaped value: the handle, and how to read on. */
const frameTokens = 50;

/**
 * A run of one call: the same broker, the same record, the same shaping as a call of a program. Never rejects for what a
 * call can end in.
 */
export async function callDirectly(seams: RunSeams, request: DirectCallRequest): Promise<CallResult> {
  const scope = openCall(seams, request);
  const callId = `${scope.runId}.0`;
  const performed = await perform(scope, request, callId);
  for (const value of performed.sensitiveValues) scope.sensitive.add(value);
  const counter = await seams.tokenCounter();
  const kept = createKeptValues(scope);
  const outcome = boundError(performed.outcome, request.budgetTokens, counter);
  const shaped = outcome.kind === "ok" ? shapeOutput(request, { performed, kept, counter }) : undefined;
  const artifacts = outcome.kind === "ok" ? outcome.artifacts.map((artifact) => kept.keepArtifact(artifact)) : [];
  const meter = createTokenMeter();
  meter.add(performed.argsJson);
  if (performed.wire !== undefined) meter.add(performed.wire.json);
  const tokens = { program: 0, direct: meter.total(counter), result: shownTokens(outcome, shaped, { counter, wire: performed.wire?.json }) };
  const finish: RunFinish = {
    status: statusOf(outcome.kind),
    endedAtMs: seams.clock.now(),
    tokens,
    ...(outcome.kind === "ok" ? { resultNumber: 1 } : { error: outcome.error }),
  };
  await scope.log.finish(finish, { onlyRead: performed.effect === "read" });
  seams.emit({ kind: "run-ended", atMs: finish.endedAtMs, runId: scope.runId, principal: scope.principal, status: finish.status, durationMs: performed.durationMs });
  return { runId: scope.runId, callId, outcome, ...(shaped === undefined ? {} : { shaped }), artifacts, ...(performed.cost === undefined ? {} : { cost: performed.cost }) };
}

function openCall(seams: RunSeams, { view, principal, lane, limits, taskId, conversation, questions, budgetTokens }: DirectCallRequest): RunScope {
  const startedAtMs = seams.clock.now();
  const runId = newRunId(startedAtMs, seams.random);
  const lease = firstLease(runId);
  const log = createRunLog(seams, lease, { degraded: (message) => seams.emit({ kind: "journal-degraded", atMs: seams.clock.now(), message: seams.redactor.text(message) }) });
  const trace = seams.tracing?.current();
  const start: RunStart = { runId, kind: "call", principal, startedAtMs, lane, language: undefined, programText: undefined, programDigest: undefined, seed: "", limits, driver: undefined, interfaces: {}, policyVersion: seams.policy.version, ...(taskId === undefined ? {} : { taskId }), ...(conversation === undefined ? {} : { conversation }), ...(trace === undefined ? {} : { trace }), budgetTokens };
  log.begin(start);
  seams.emit({ kind: "run-started", atMs: startedAtMs, runId, principal, runKind: "call", ...(trace === undefined ? {} : { trace }) });
  return { seams, view, runId, lease, startedAtMs, principal, lane, taskId, limits, ...(questions === "refuse" ? { approver: denyingApprover() } : {}), taint: seams.taints.of(principal.tenant, taintScopes(start), true), log, notices: createNotices(), sensitive: new Set(), signals: { heard: () => undefined }, fence: createFence() };
}

type Performed = PerformedCall & { readonly argsJson: string };

async function perform(scope: RunScope, { tool, args, signal }: DirectCallRequest, callId: string): Promise<Performed> {
  try {
    const wire = encodeValue(args ?? {});
    const performed = await performAlive(scope, { ...callOfRun(scope), tool, args: wire, callId, seq: 0, occurrence: 0, signal });
    return { ...performed, argsJson: wire.json };
  } catch (fault) {
    if (!(fault instanceof ValueError)) throw fault;
    const error: CallError = { code: fault.code, message: `${fault.message}. The call was not made.`, tool, retryable: false, path: fault.path };
    const outcome: CallOutcome = { kind: "invalid_input", effectStatus: "none", error };
    return { kind: "performed", outcome, durationMs: 0, effect: "write", argsDigest: digestOf("unreadable"), sensitiveValues: [], argsJson: "" };
  }
}

/** A tool's error text may be as long as it likes; what a model is shown of it may not. */
function boundError(outcome: CallOutcome, budgetTokens: number, counter: TokenCounter): CallOutcome {
  if (outcome.kind === "ok") return outcome;
  const { tool } = outcome.error;
  return { ...outcome, error: { ...cutError(outcome.error, { tokens: budgetTokens, counter }), tool } };
}

interface Shaping {
  readonly performed: Performed;
  readonly kept: KeptValues;
  readonly counter: TokenCounter;
}

function shapeOutput({ tool, view, budgetTokens }: DirectCallRequest, { performed, kept, counter }: Shaping): ShapedValue | undefined {
  const { outcome, wire } = performed;
  if (outcome.kind !== "ok") return undefined;
  const { value } = outcome;
  const { handle } = kept.keep(tool, value, wire ?? encodeValue(value));
  const spec = view.catalog.resolve(tool)?.tool;
  const known = { value, handle, ...(wire === undefined || wire.tagged ? {} : { json: wire.json }), ...(spec?.summarize === undefined ? {} : { summarize: () => summary((output) => spec.summarize?.(output), value) }) };
  return shapeValue(known, { tokens: Math.max(0, budgetTokens - frameTokens), counter });
}

/** A summary that throws or cannot be shown is none: the outline serves. */
function summary(summarize: (output: unknown) => unknown, value: unknown): unknown {
  try {
    const short = summarize(value);
    encodeValue(short);
    return short;
  } catch {
    return undefined;
  }
}

function shownTokens(outcome: CallOutcome, shaped: ShapedValue | undefined, { counter, wire }: { readonly counter: TokenCounter; readonly wire: string | undefined }): number {
  if (shaped === undefined) return outcome.kind === "ok" ? 0 : counter.count(`${outcome.error.code}: ${outcome.error.message}`);
  return shaped.kind === "whole" ? counter.count(wire ?? "") : counter.count(JSON.stringify(shaped.outline)) + counter.count(shaped.handle);
}

function statusOf(kind: OutcomeKind): RunFinish["status"] {
  if (kind === "ok") return "completed";
  if (kind === "cancelled") return "cancelled";
  return kind === "limit_exceeded" ? "limit" : "failed";
}

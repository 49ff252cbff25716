import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallgateError, localPrincipal } from "@callgate/contract";
import type { Clock, Digest, Gate, JsonValue } from "@callgate/contract";
import { globMatches, qualifiedGlob } from "@callgate/runtime/broker";
import { digestOf } from "@callgate/runtime/journal-parts";
import type { EvalWorld } from "../environment.ts";
import type { EvalCase, EvalSuite } from "../suite/eval-suite.ts";
import { judge } from "./judge.ts";
import type { Failure } from "./judge.ts";
import { recordedCalls } from "./recorded-calls.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import { noUsage } from "./subject.ts";
import type { Subject, SubjectReport } from "./subject.ts";

/** Opens the gate of one attempt, with its journal in `stateFolder`. */
export type GateOpener = (options: never, stateFolder: string) => Promise<Gate>;

/**
 * How one attempt ended.
 *
 * - `passed`, `failed`: judged
 * - `refused`: the case could not have failed, or names tools that are not there; nothing was tried
 * - `skipped`: this machine has no such environment; nothing was tried
 * - `error`: it could not be judged: the environment or the subject was not there
 */
export type AttemptStatus = "passed" | "failed" | "refused" | "skipped" | "error";

export interface AttemptReport {
  readonly status: AttemptStatus;
  readonly failures: readonly Failure[];
  /** Of `refused`, `skipped` and `error`. */
  readonly reason?: string;
  readonly beforeDigest?: Digest;
  readonly afterDigest?: Digest;
  readonly calls: readonly RecordedCall[];
  readonly answer: string;
  readonly usage: SubjectReport["usage"];
  readonly wallMs: number;
}

export interface AttemptPlan {
  readonly suite: EvalSuite;
  readonly case: EvalCase;
  readonly subject: Subject;
  readonly openGate: GateOpener;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One attempt in a world of its own. Never rejects: what goes wrong is in the report. */
export async function runAttempt(plan: AttemptPlan): Promise<AttemptReport> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-eval-"));
  const opened: Gate[] = [];
  let world: EvalWorld | undefined;
  try {
    const made = await plan.suite.environment({
      given: structuredClone(plan.case.given),
      folder,
      signal: plan.signal,
      openGate: async (options) => {
        const gate = await plan.openGate(options, join(folder, `state-${opened.length}`));
        opened.push(gate);
        return gate;
      },
    });
    if ("missing" in made) return unjudged("skipped", made.missing);
    world = made;
    await world.gate.ready();
    return await tryIn(world, plan);
  } catch (fault) {
    return unjudged("error", `the environment: ${words(fault)}`);
  } finally {
    await Promise.allSettled([...new Set([...opened, ...(world === undefined ? [] : [world.gate])])].map((gate) => gate.close()));
    await Promise.resolve(world?.close?.()).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryIn({ gate, state }: EvalWorld, { suite, case: one, subject, clock, signal }: AttemptPlan): Promise<AttemptReport> {
  const before = await stateOf(state);
  const beforeDigest = digestOf(before);
  const refusal = await refusalOf(one, { gate, before });
  if (refusal !== undefined) return { ...unjudged("refused", refusal), beforeDigest };
  const principal = { ...localPrincipal, ...gate.principal, ...one.principal };
  const startedMs = clock.monotonic();
  const reports: SubjectReport[] = [];
  for (let submission = 0; submission < one.submissions; submission += 1) reports.push(await subject.perform({ suite, case: one, gate, principal, taskId: `eval-${one.id}`, signal }));
  const wallMs = clock.monotonic() - startedMs;
  const { answer, usage, overBudget, fault } = together(reports);
  const after = await stateOf(state);
  const calls = await recordedCalls(gate, principal.tenant);
  const seen = { beforeDigest, afterDigest: digestOf(after), calls, answer, usage, wallMs };
  if (signal.aborted) return { ...unjudged("error", "it was interrupted"), ...seen };
  if (fault !== undefined) return { ...unjudged("error", `the subject: ${fault}`), ...seen };
  const failures = judge(one, { before, after, calls, answer, usage, wallMs, ...(overBudget === undefined ? {} : { overBudget }) });
  return { status: failures.length === 0 ? "passed" : "failed", failures, ...seen };
}

/** A copy, as JSON has it: the world may go on changing its own. */
async function stateOf(state: EvalWorld["state"]): Promise<JsonValue> {
  return structuredClone(await state());
}

/** A case that passes before anything is done tests nothing, nor does one that speaks of tools that are not there. */
async function refusalOf(one: EvalCase, { gate, before }: { readonly gate: Gate; readonly before: JsonValue }): Promise<string | undefined> {
  const idle = judge(one, { before, after: before, calls: [], answer: "", usage: noUsage, wallMs: 0 });
  if (idle.length === 0) return "it passes when nothing is done: demand something of the state, the calls or the answer";
  const names = gate.tools().map(({ name }) => name);
  const { allowed, forbidden } = one.effects;
  for (const pattern of [...allowed, ...forbidden, ...one.calls.map(({ tool }) => tool)]) {
    const glob = qualifiedGlob(pattern);
    if (typeof glob === "string") return `the pattern "${pattern}" ${glob}`;
    // A tool that its caller may not see is there all the same.
    if (!names.some((name) => globMatches(glob, name)) && (await gate.policy.explain(pattern, {})) === undefined) return `the pattern "${pattern}" matches no tool of the environment`;
  }
  return undefined;
}

function together(reports: readonly SubjectReport[]): SubjectReport {
  const last = reports.at(-1);
  const sum = (key: "turns" | "toolCalls" | "inputTokens" | "cachedTokens" | "outputTokens" | "microUsd"): number => reports.reduce((total, { usage }) => total + usage[key], 0);
  const usage = { turns: sum("turns"), toolCalls: sum("toolCalls"), inputTokens: sum("inputTokens"), cachedTokens: sum("cachedTokens"), outputTokens: sum("outputTokens"), microUsd: sum("microUsd"), isEstimated: reports.some((report) => report.usage.isEstimated === true) };
  const overBudget = reports.find((report) => report.overBudget !== undefined)?.overBudget;
  const fault = reports.find((report) => report.fault !== undefined)?.fault;
  return { answer: last?.answer ?? "", usage, ...(overBudget === undefined ? {} : { overBudget }), ...(fault === undefined ? {} : { fault }) };
}

export function unjudged(status: "refused" | "skipped" | "error", reason: string): AttemptReport {
  return { status, reason, failures: [], calls: [], answer: "", usage: noUsage, wallMs: 0 };
}

function words(fault: unknown): string {
  return CallgateError.is(fault) ? `${fault.code}: ${fault.message}` : fault instanceof Error ? fault.message : String(fault);
}

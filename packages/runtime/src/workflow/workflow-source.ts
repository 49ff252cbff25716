import { BackgroundJob, CallgateError, SourceReturn, ToolError } from "@callgate/contract";
import type { Gate, JsonObject, JsonValue, PollAnswer, ReconcileAnswer, RunResult, Source, SourceListing, SourceProblem, Tool, ToolContext, Workflow, WorkflowFinding } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { checkWorkflow, isLocked, lockOf } from "./check-workflow.ts";
import { composeProgram } from "./compose-program.ts";
import type { WorkflowFolder } from "./workflow-folder.ts";

/** Workflows as tools of the namespace `workflows`. */
export interface WorkflowSource extends Source {
  /** The gate whose tools they call; set before anything is called. */
  attach(gate: Gate): void;
  /** Holds all of them against the tools as they are now; what is found is among the problems of the source. */
  recheck(): Promise<readonly WorkflowFinding[]>;
}

/** What a run of it may take, the time a person takes aside: that is waited for as a background job. */
const timeoutMs = 10 * 60_000;
const pollAfterMs = 1_000;
/** The whole of what it returns goes to the caller, whose own budget bounds what a model sees. */
const budgetTokens = 10_000_000;

/**
 * A source of saved workflows. A call of one is a run of its own, for the principal of the call: each of its calls passes
 * the gate like any, and keeps to the capabilities of the workflow besides.
 */
export function createWorkflowSource({ workflows, problems }: WorkflowFolder): WorkflowSource {
  const byName = new Map(workflows.map((workflow) => [workflow.manifest.name, workflow]));
  const circular = circularIn(byName);
  let attached: Gate | undefined;
  let findings: readonly WorkflowFinding[] = [];
  let changed: () => void = () => undefined;
  const gate = (): Gate => {
    if (attached === undefined) throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: "The gate of these workflows is not open yet", retryable: true, notApplied: true });
    return attached;
  };
  const usable = workflows.filter(({ manifest }) => !circular.has(manifest.name));
  const tools = usable.map((workflow) => toolOf(workflow, gate));
  return {
    namespace: "workflows",
    kind: "workflows",
    purpose: "saved workflows: programs that worked, with typed inputs",
    state: { kind: "ready" },
    list: () => Promise.resolve<SourceListing>({ tools: tools.map((tool) => ({ tool, claimed: false })), problems: [...problems.map(({ name, message }): SourceProblem => ({ tool: name, message })), ...[...circular].map((name): SourceProblem => ({ tool: name, message: "It may call itself, directly or by another workflow; it is not offered" })), ...findings.filter(({ severity }) => severity === "broken").map(({ workflow, message }): SourceProblem => ({ tool: workflow, message: `It is broken and not run: ${message}` }))] }),
    async call(name, args, context) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `There is no workflow ${name}`, notApplied: true });
      return await tool.handler(args, context);
    },
    onChange: (listener) => void (changed = listener),
    close: () => Promise.resolve(),
    attach: (opened) => void (attached = opened),
    async recheck() {
      const before = JSON.stringify(findings);
      findings = (await Promise.all(usable.map((workflow) => checkWorkflow(gate(), workflow)))).flat();
      if (JSON.stringify(findings) !== before) changed();
      return findings;
    },
  };
}

/** Workflows that could go on calling each other for ever: what each may call is known. */
function circularIn(byName: ReadonlyMap<string, Workflow>): ReadonlySet<string> {
  const reaches = (name: string, from: string, seen: ReadonlySet<string>): boolean =>
    Object.keys(byName.get(from)?.manifest.tools ?? {}).some((tool) => {
      const next = tool.startsWith("workflows.") ? tool.slice("workflows.".length) : undefined;
      return next !== undefined && (next === name || (!seen.has(next) && reaches(name, next, new Set([...seen, next]))));
    });
  return new Set([...byName.keys()].filter((name) => reaches(name, name, new Set([name]))));
}

function toolOf(workflow: Workflow, gate: () => Gate): Tool {
  const { manifest } = workflow;
  return {
    name: manifest.name,
    description: manifest.description,
    input: manifest.input,
    output: manifest.output,
    effect: manifest.effect,
    version: manifest.version,
    ...(manifest.deprecated === undefined ? {} : { deprecated: manifest.deprecated }),
    tags: ["workflow"],
    permissions: [],
    labels: [],
    timeoutMs,
    examples: [],
    errors: [],
    handler: async (inputs, context) => outcomeOf(await runWorkflow(gate(), workflow, { inputs: inputs as JsonObject, context })),
    simulate: async (inputs, context) => rehearsedAs(await runWorkflow(gate(), workflow, { inputs: inputs as JsonObject, context, rehearse: true })),
    poll: async (token, { principal, signal }) => polled(await gate().runs.resume(runOf(token), { principal, signal })),
    cancelJob: async (token, { principal, signal }) => ({ notApplied: changedNothing(await gate().runs.cancel(runOf(token), { principal, signal })) }),
    reconcile: async (_inputs, context) => await reconcile(gate(), context),
  };
}

interface Running {
  readonly inputs: JsonObject;
  readonly context: ToolContext;
  /** Its writes are only recorded, as those of the program that calls it. */
  readonly rehearse?: true;
}

async function runWorkflow(gate: Gate, workflow: Workflow, { inputs, context, rehearse }: Running): Promise<RunResult> {
  const { manifest, program, digest } = workflow;
  const { principal, runId, callId, idempotencyKey, signal } = context;
  if (!isLocked(gate, workflow, principal)) {
    const broken = (await checkWorkflow(gate, workflow, { principal, signal })).filter(({ severity }) => severity === "broken");
    if (broken.length > 0) throw new ToolError({ code: "WORKFLOW_BROKEN", message: `The workflow ${manifest.name} does not fit its tools any more, so nothing of it ran.\n${broken.map(({ message }) => message).join("\n")}`, notApplied: true });
  }
  return await gate.run(composeProgram(manifest, program, inputs), {
    principal,
    signal,
    language: manifest.language,
    interfaces: lockOf(manifest),
    lane: manifest.effect === "read" ? "query" : "execute",
    // Carried out again under the same key, its writes keep theirs.
    taskId: idempotencyKey,
    capabilities: { id: `workflow:${manifest.name}@${manifest.version} ${digest.slice(0, 19)}`, tools: Object.fromEntries(Object.entries(manifest.tools).map(([name, { args }]) => [name, args])) },
    parent: { runId, callId },
    ...(rehearse === undefined ? {} : { rehearse }),
    budgetTokens,
  });
}

/** What the call gives: the value, a job while a person is waited for, or an error that says what took effect. */
function outcomeOf(result: RunResult): unknown {
  if (result.status === "suspended" || result.status === "running") return new BackgroundJob({ runId: result.runId }, { pollAfterMs });
  if (result.status === "completed") return new SourceReturn(valueOf(result), [], { notApplied: changedNothing(result) });
  throw new ToolError({ code: failureCode(result), message: failureOf(result), notApplied: changedNothing(result), details: { runId: result.runId, ...(result.error === undefined ? {} : { cause: result.error.code }) } });
}

/** What stands for the answer in a rehearsal: what the program makes of placeholders. */
function rehearsedAs(result: RunResult): unknown {
  if (result.status === "completed") return valueOf(result);
  throw new ToolError({ code: failureCode(result), message: failureOf(result), notApplied: true, details: { runId: result.runId } });
}

/** One that its caller's plan has stopped stops its caller as well. */
function failureCode({ error }: RunResult): "PLAN_DRIFT" | "WORKFLOW_FAILED" {
  return error?.code === "PLAN_DRIFT" ? "PLAN_DRIFT" : "WORKFLOW_FAILED";
}

function valueOf({ value }: RunResult): unknown {
  return value?.kind === "whole" ? value.value : value?.outline;
}

function failureOf({ runId, status, error, diagnostics }: RunResult): string {
  const why = error === undefined ? diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message).join("; ") : `${error.code}: ${error.message}`;
  return `The workflow ended as ${status} (run ${runId}). ${why}`;
}

function changedNothing({ effects, calls }: RunResult): boolean {
  return effects === undefined ? calls.every(({ effectStatus }) => effectStatus === "none") : effects.done.length === 0 && effects.unknown.length === 0;
}

function polled(result: RunResult): PollAnswer {
  if (result.status === "suspended" || result.status === "running") return { kind: "pending", pollAfterMs };
  if (result.status === "completed") return { kind: "done", output: valueOf(result), notApplied: changedNothing(result) };
  return { kind: "failed", code: failureCode(result), message: failureOf(result) };
}

/** A call whose process was lost: its run goes on from its record, and the call waits for its end. Without one nothing had happened. */
async function reconcile(gate: Gate, { callId, principal }: ToolContext): Promise<ReconcileAnswer> {
  const run = (await gate.runs.ofCall(callId, { principal })).at(-1);
  return run === undefined ? { kind: "did_not_happen" } : { kind: "goes_on", job: new BackgroundJob({ runId: run.runId }, { pollAfterMs: 0 }) };
}

function runOf(token: JsonValue): string {
  const runId = isPlainObject(token) ? token["runId"] : undefined;
  if (typeof runId !== "string") throw new CallgateError("ASSERTION", "The token of a workflow names no run");
  return runId;
}

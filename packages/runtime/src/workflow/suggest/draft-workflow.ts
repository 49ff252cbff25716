import { CallgateError, defaultLimits } from "@callgate/contract";
import type { Gate, JsonObject, JsonSchema, JsonValue, Principal, Recording, ToolView, Workflow, WorkflowManifest, WorkflowRecording, WorkflowTool } from "@callgate/contract";
import { composeProgram } from "../compose-program.ts";
import { literalValues } from "../infer-inputs.ts";
import { schemaOfValues } from "../infer-schema.ts";
import { inputType, strongest } from "../make-workflow.ts";
import { draftProgram } from "./draft-program.ts";
import type { DraftProgram } from "./draft-program.ts";
import type { ChainOccurrence, FoundChain } from "./find-chains.ts";

export interface DraftOptions {
  readonly name: string;
  readonly description: string;
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

/** Recorded times of a chain that become its contract tests: one is enough to run it, more show what differs. */
const maxTests = 3;

/** The manifest and program of a chain, and what the check says against it. Nothing is run. */
export async function draftManifest(gate: Gate, chain: FoundChain, { name, description, principal, signal }: DraftOptions): Promise<{ readonly manifest: WorkflowManifest; readonly draft: DraftProgram; readonly problem?: string }> {
  const asker = principal === undefined ? {} : { principal };
  const tools = chain.shape.steps.map(({ tool }) => tool);
  const views = new Map(gate.describe([...new Set(tools)], asker).map((view) => [view.name, view]));
  const draft = draftProgram(chain, views);
  const manifest: WorkflowManifest = {
    format: 1,
    name,
    version: "0.1.0",
    description,
    language: "typescript",
    input: inputSchema(gate, chain, { draft, asker }),
    output: schemaOfValues(chain.occurrences.map(({ steps }) => steps.at(-1)?.result ?? null), { isOpen: true }),
    effect: strongest([...views.values()].map(({ spec }) => spec.effect)),
    tools: toolsOf(chain, views, draft),
  };
  const gone = [...new Set(tools)].filter((tool) => !views.has(tool));
  if (gone.length > 0) return { manifest, draft, problem: `${gone.join(", ")} ${gone.length === 1 ? "is" : "are"} gone, or may not be called any more` };
  const [first] = chain.occurrences;
  const checked = await gate.check(composeProgram(manifest, draft.text, first === undefined ? {} : inputsOf(draft, first)), { ...asker, ...(signal === undefined ? {} : { signal }) });
  if (checked.status !== "rejected") return { manifest, draft };
  return { manifest, draft, problem: `it does not pass the check: ${checked.diagnostics.filter(({ severity }) => severity === "error").map(({ line, message }) => `line ${line}: ${message}`).join("; ")}` };
}

/**
 * Drafts the workflow of a chain: its program, run with the recorded answers of some of the times, is its contract test.
 * Nothing is called.
 *
 * Errors: `CallgateError` WORKFLOW_INVALID where the program does not make the calls that were recorded.
 */
export async function draftWorkflow(gate: Gate, chain: FoundChain, options: DraftOptions): Promise<Omit<Workflow, "digest">> {
  const { manifest, draft, problem } = await draftManifest(gate, chain, options);
  if (problem !== undefined) throw refuse(options.name, problem);
  const recordings: WorkflowRecording[] = [];
  for (const occurrence of differing(chain.occurrences)) recordings.push(await record(gate, { manifest, draft, occurrence }, options));
  return { manifest, program: draft.text, recordings };
}

function refuse(name: string, why: string): CallgateError {
  return new CallgateError("WORKFLOW_INVALID", `No workflow ${name} can be drafted: ${why}`);
}

/** Some with other inputs each. */
function differing(occurrences: readonly ChainOccurrence[]): readonly ChainOccurrence[] {
  return [...new Map(occurrences.map((one) => [JSON.stringify(one.values), one])).values()].slice(0, maxTests);
}

function inputsOf({ inputs }: DraftProgram, { values }: ChainOccurrence): JsonObject {
  return Object.fromEntries(inputs.map(({ name, input }) => [name, values[input] ?? null]));
}

function inputSchema(gate: Gate, { occurrences }: FoundChain, { draft, asker }: { readonly draft: DraftProgram; readonly asker: { readonly principal?: Principal } }): JsonSchema {
  const answers = (occurrences[0]?.steps ?? []).map(({ tool, args }) => ({ tool, args: { value: args } }));
  const properties = Object.fromEntries(draft.inputs.map(({ name, input }) => {
    const [first = null, ...others] = occurrences.map(({ values }) => values[input] ?? null);
    const declared = inputType(gate, { value: first }, { answers, asker });
    const isDeclared = JSON.stringify(declared) !== JSON.stringify(schemaOfValues([first]));
    return [name, (isDeclared ? declared : schemaOfValues([first, ...others])) as JsonValue];
  }));
  return { type: "object", properties, required: draft.inputs.map(({ name }) => name), additionalProperties: false };
}

function toolsOf({ shape, occurrences }: FoundChain, views: ReadonlyMap<string, ToolView>, { text }: DraftProgram): WorkflowManifest["tools"] {
  const constants = new Set(literalValues({ text, language: "typescript" }));
  return Object.fromEntries([...new Set(shape.steps.map(({ tool }) => tool))].sort().flatMap((tool): readonly (readonly [string, WorkflowTool])[] => {
    const view = views.get(tool);
    if (view === undefined) return [];
    const seen = occurrences.flatMap(({ steps }) => steps.flatMap((step) => (step.tool === tool ? [step.args] : [])));
    return [[tool, { effect: view.spec.effect, interfaceDigest: view.interfaceDigest, definitionDigest: view.definitionDigest, args: schemaOfValues(seen, { constants }) }]];
  }));
}

interface Recorded {
  readonly manifest: WorkflowManifest;
  readonly draft: DraftProgram;
  readonly occurrence: ChainOccurrence;
}

/** Executes the draft with the answers of one time, and keeps that with placeholders for what is sensitive. */
async function record(gate: Gate, { manifest, draft, occurrence }: Recorded, { name, principal, signal }: DraftOptions): Promise<WorkflowRecording> {
  const asker = { ...(principal === undefined ? {} : { principal }), ...(signal === undefined ? {} : { signal }) };
  const program = composeProgram(manifest, draft.text, inputsOf(draft, occurrence));
  const { result, newCall, unused } = await gate.runs.edit(answersOf(gate, program, occurrence), { ...asker, program });
  if (newCall !== undefined) throw refuse(name, `with the inputs of ${occurrence.steps[0]?.runId ?? "a run"} it calls ${newCall.tool} with ${JSON.stringify(newCall.args)}, which was not called then`);
  if (result.status !== "completed" || unused.length > 0) throw refuse(name, `with the answers of ${occurrence.steps[0]?.runId ?? "a run"} it ends as ${result.status}${result.error === undefined ? "" : ` (${result.error.message})`}, and leaves out ${unused.length} calls`);
  const recording = await gate.runs.recording(result.runId, asker);
  // The literals of the program itself are text for everybody to read.
  if (!recording.program.endsWith(draft.text)) throw refuse(name, "its program would hold a sensitive value that was always the same");
  const written = /^const inputs = JSON\.parse\(("(?:[^"\\]|\\.)*")\)/.exec(recording.program)?.[1];
  return { inputs: written === undefined ? {} : (JSON.parse(JSON.parse(written) as string) as JsonObject), recording };
}

/** Calls that were made one by one as the record of one program. */
function answersOf(gate: Gate, program: string, { steps }: ChainOccurrence): Recording {
  const startedAtMs = steps[0]?.issuedAtMs ?? 0;
  const views = gate.describe([...new Set(steps.map(({ tool }) => tool))]);
  return {
    format: 1,
    runId: steps[0]?.runId ?? "",
    language: "typescript",
    program,
    seed: "0".repeat(32),
    startedAtMs,
    limits: defaultLimits,
    tools: views.map(({ name, spec: { description, effect, input, output } }) => ({ name, description, effect, input, ...(output === undefined ? {} : { output }) })),
    answers: steps.map(({ tool, args, result, endedAtMs }, seq) => ({ kind: "tool", seq, atMs: Math.max(startedAtMs, endedAtMs), tool, args: { value: args }, outcome: "ok", result: { kind: "value", value: result === undefined ? { json: '{"$cg":"undefined"}', tagged: true } : { value: result } } })),
    end: { status: "completed", console: [], text: [] },
    placeholders: 0,
  };
}

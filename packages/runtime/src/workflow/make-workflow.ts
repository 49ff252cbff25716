import { isDeepStrictEqual } from "node:util";
import { CallgateError } from "@callgate/contract";
import type { Effect, Gate, JournalEntry, JsonObject, JsonSchema, JsonValue, Principal, Recording, RecordingAnswer, RunRecord, Workflow, WorkflowManifest, WorkflowTool } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { beginsWithBlock, composeProgram } from "./compose-program.ts";
import { inferInputs, literalValues, withInputs } from "./infer-inputs.ts";
import type { InputLiteral } from "./infer-inputs.ts";
import { schemaOfValues } from "./infer-schema.ts";
import { nameProblem } from "./parse-manifest.ts";
import { isViewed, saveAgain } from "./save-again.ts";

export interface MakeWorkflowOptions {
  readonly runId: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Inputs that stay literals of the program. */
  readonly fixed?: readonly string[];
  /** The workflow that it takes the place of: what stands in its manifest stays, and literals that stayed in its program stay. */
  readonly before?: Workflow;
  readonly principal?: Principal;
}

type ToolAnswer = Extract<RecordingAnswer, { readonly kind: "tool" }>;

/**
 * Makes a workflow of a run that completed: literals that went into calls become its inputs, the calls it made its
 * capabilities and its first contract test.
 *
 * Errors: `CallgateError` WORKFLOW_INVALID (what cannot be made one, and why), RUN_NOT_FOUND, RECORDING_INVALID,
 * REPLAY_UNAVAILABLE.
 */
export async function makeWorkflow(gate: Gate, options: MakeWorkflowOptions): Promise<Omit<Workflow, "digest">> {
  const { runId, name, version, description, before, principal } = options;
  const misnamed = nameProblem(name);
  if (misnamed !== undefined) throw refuse(runId, misnamed);
  const asker = principal === undefined ? {} : { principal };
  const shown = await gate.runs.show(runId, asker);
  if (shown === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId}`, { details: { runId } });
  const original = programOf(shown);
  const recording = await gate.runs.recording(runId, asker);
  const answers = recording.answers.flatMap((answer) => (answer.kind === "tool" ? [answer] : []));
  const args = answers.map(argsOf);
  const { language } = recording;
  const found = inferInputs({ text: recording.program, language }, args);
  const fixed = options.fixed ?? (before === undefined ? [] : stillFixed(before, found));
  for (const unknown of fixed.filter((one) => !found.some((input) => input.name === one))) throw refuse(runId, `it has no input ${unknown} that could stay fixed; there are ${found.map((input) => input.name).join(", ") || "none"}`);
  const inputs = found.filter((input) => !fixed.includes(input.name));
  const replaced = withInputs({ text: original, language }, inputs);
  // Its lines are those of the file: the first is for what gives it its inputs.
  const program = language === "python" && beginsWithBlock(replaced) ? `\n${replaced}` : replaced;
  if (program.trim() !== withInputs({ text: recording.program, language }, inputs).trim()) throw refuse(runId, "its program holds a sensitive value that is no input of it. A workflow is a file for others to read: have the program read the value from a tool, or pass it to one as it stands");
  const tools = toolsOf(gate, shown.entries, { answers, constants: new Set(literalValues({ text: program, language })), asker });
  const made: WorkflowManifest = {
    format: 1,
    name,
    version,
    description,
    language,
    input: inputSchema(gate, inputs, { answers, asker }),
    output: outputSchema(recording),
    effect: strongest(Object.values(tools).map(({ effect }) => effect)),
    tools,
    from: { runId },
  };
  const recorded: JsonObject = Object.fromEntries(inputs.map((input) => [input.name, input.value]));
  const givenTo = (tool: string): readonly JsonValue[] => answers.filter((answer) => answer.tool === tool).map(argsOf);
  const manifest = before === undefined ? made : saveAgain(before, { manifest: made, program, inputs: recorded, recording, givenTo, declaredBy: (tool) => gate.describe([tool], asker)[0]?.spec.input });
  const checked = await gate.check(composeProgram(manifest, program, recorded), { ...asker, language: manifest.language });
  if (checked.status === "rejected") throw refuse(runId, `with its inputs it does not pass the check: ${checked.diagnostics.filter(({ severity }) => severity === "error").map(({ line, message }) => `line ${line}: ${message}`).join("; ")}`);
  return { manifest, program, recordings: [{ inputs: recorded, recording }] };
}

/** Literals that could be inputs, were none when the workflow was saved before, and stand in its program. */
function stillFixed({ manifest: { input, language }, program }: Workflow, found: readonly InputLiteral[]): readonly string[] {
  const held = new Set(literalValues({ text: program, language }));
  const had = isPlainObject(input) && isPlainObject(input["properties"]) ? Object.keys(input["properties"]) : [];
  return found.filter(({ name, value }) => !had.includes(name) && held.has(value)).map(({ name }) => name);
}

function refuse(runId: string, why: string): CallgateError {
  return new CallgateError("WORKFLOW_INVALID", `No workflow can be made of run ${runId}: ${why}`, { details: { runId } });
}

function programOf({ run, entries }: { readonly run: RunRecord; readonly entries: readonly JournalEntry[] }): string {
  const { runId, status, programText, language = "typescript" } = run;
  const checked = entries.find((entry) => entry.kind === "checked");
  if (status !== "completed") throw refuse(runId, `it is ${status}; only what worked is worth keeping`);
  if (run.edits !== undefined || run.kind !== "program") throw refuse(runId, "its calls were not made; save the run that made them");
  if (programText === undefined) throw refuse(runId, "the text of its program is not kept any more");
  if (!["typescript", "javascript", "python"].includes(language)) throw refuse(runId, `a workflow is TypeScript, JavaScript or Python, not ${language}`);
  if ((checked?.form ?? "script") !== "script" || /^\s*(?:`{3}|~{3})/.test(programText)) throw refuse(runId, "its program is a function or stands in a fence; run it as a plain script first");
  return programText;
}

/** Plain arguments; of values that JSON has no word for only that they are an object. */
function argsOf({ args }: Pick<ToolAnswer, "args">): JsonValue {
  return "value" in args ? args.value : {};
}

interface Inferring {
  readonly answers: readonly ToolAnswer[];
  readonly asker: { readonly principal?: Principal };
}

/** Calls that an input may have gone into. */
export interface InputSeen {
  readonly answers: readonly Pick<ToolAnswer, "tool" | "args">[];
  readonly asker: { readonly principal?: Principal };
}

function toolsOf(gate: Gate, entries: readonly JournalEntry[], { answers, constants, asker }: Inferring & { readonly constants: ReadonlySet<string | number> }): Readonly<Record<string, WorkflowTool>> {
  const checked = entries.find((entry) => entry.kind === "checked");
  const reached = checked?.reach === undefined || checked.reach.tools === "*" ? [] : checked.reach.tools;
  const names = [...new Set([...reached, ...answers.map(({ tool }) => tool)])].sort();
  const views = gate.describe(names, { ...asker, interfaces: { ...checked?.interfaces } });
  return Object.fromEntries(views.map(({ name, spec, interfaceDigest, definitionDigest }) => {
    const seen = answers.filter(({ tool }) => tool === name).map(argsOf);
    return [name, { effect: spec.effect, interfaceDigest, definitionDigest, args: seen.length === 0 ? spec.input : schemaOfValues(seen, { constants }) }];
  }));
}

function inputSchema(gate: Gate, inputs: readonly InputLiteral[], inferring: Inferring): JsonSchema {
  const properties = Object.fromEntries(inputs.map((input) => [input.name, inputType(gate, input, inferring) as JsonValue]));
  return { type: "object", properties, required: inputs.map(({ name }) => name), additionalProperties: false };
}

/** As the tool that gets it declares it, where that stands on its own; else the type of the value that was seen. */
export function inputType(gate: Gate, { value }: { readonly value: JsonValue }, { answers, asker }: InputSeen): JsonSchema {
  for (const answer of answers) {
    const path = pathTo(argsOf(answer), value);
    const spec = path === undefined ? undefined : gate.describe([answer.tool], asker)[0]?.spec;
    const declared = path === undefined || spec === undefined ? undefined : schemaAt(spec.input, path);
    if (declared !== undefined && !JSON.stringify(declared).includes("$ref")) return declared;
  }
  return schemaOfValues([value]);
}

function pathTo(value: JsonValue, wanted: JsonValue): readonly string[] | undefined {
  if (isDeepStrictEqual(value, wanted)) return [];
  const items = Array.isArray(value) ? Object.entries(value as readonly JsonValue[]) : isPlainObject(value) ? Object.entries(value as JsonObject) : [];
  for (const [key, item] of items) {
    const path = pathTo(item, wanted);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

function schemaAt(schema: unknown, [key, ...rest]: readonly string[]): JsonSchema | undefined {
  if (key === undefined) return isPlainObject(schema) ? (schema as JsonObject) : undefined;
  if (!isPlainObject(schema)) return undefined;
  const { properties, items } = schema;
  if (isPlainObject(properties) && Object.hasOwn(properties, key)) return schemaAt(properties[key], rest);
  return items === undefined ? undefined : schemaAt(items, rest);
}

function outputSchema({ end }: Recording): JsonSchema {
  const { value } = end;
  return value === undefined || isViewed(value) ? {} : schemaOfValues([value], { isOpen: true });
}

const byStrength: readonly Effect[] = ["read", "write", "destructive"];

export function strongest(effects: readonly Effect[]): Effect {
  return byStrength[Math.max(0, ...effects.map((effect) => byStrength.indexOf(effect)))] ?? "destructive";
}

import type { Digest, Gate, Principal, RecordingAnswer, ToolView, Workflow, WorkflowFinding, WorkflowManifest, WorkflowTool } from "@callgate/contract";
import { createSchemaValidator } from "../catalog/validation/schema-validator.ts";
import { composeProgram } from "./compose-program.ts";
import { strongest } from "./make-workflow.ts";

export interface CheckWorkflowOptions {
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

/**
 * Holds a workflow against the tools as they are now. Where an interface has changed, its program is checked against the new
 * types, and what its recordings gave and got against the new schemas. Nothing is run.
 */
export async function checkWorkflow(gate: Gate, workflow: Workflow, options: CheckWorkflowOptions = {}): Promise<readonly WorkflowFinding[]> {
  const { manifest } = workflow;
  const asker = options.principal === undefined ? {} : { principal: options.principal };
  const names = Object.keys(manifest.tools);
  const now = viewsOf(gate.describe(names, asker));
  const views = viewsOf(gate.describe(names, { ...asker, interfaces: lockOf(manifest) }));
  const locked = Object.entries(manifest.tools).flatMap(([name, tool]): readonly WorkflowFinding[] => findingOn(name, tool, { view: views.get(name), now: now.get(name) }).map((found) => ({ workflow: manifest.name, tool: name, ...found })));
  const fits = [...views.values()].every(({ name, interfaceDigest }) => manifest.tools[name]?.interfaceDigest === interfaceDigest);
  if (fits || locked.some(({ severity }) => severity === "broken")) return locked;
  return [...locked, ...(await breaksOf(gate, workflow, { views, options }))];
}

/**
 * What of a workflow does not fit its tools as it calls them: its program against their types, and what its recordings gave
 * and got against their schemas, where types have not told it already.
 */
export async function breaksOf(gate: Gate, workflow: Workflow, { views, options }: { readonly views: ReadonlyMap<string, ToolView>; readonly options: CheckWorkflowOptions }): Promise<readonly WorkflowFinding[]> {
  const types = await typeBreaks(gate, workflow, options);
  const isTold = ({ severity, tool = "" }: WorkflowFinding): boolean => (severity === "changed" ? types.length > 0 : types.some(({ message }) => message.includes(tool)));
  return [...types, ...recordedBreaks(workflow, views).filter((found) => !isTold(found))];
}

export function viewsOf(views: readonly ToolView[]): ReadonlyMap<string, ToolView> {
  return new Map(views.map((view) => [view.name, view]));
}

/** The interfaces that a workflow was saved with: what its calls are pinned to, where the tools keep them. */
export function lockOf({ tools }: Pick<WorkflowManifest, "tools">): Readonly<Record<string, Digest>> {
  return Object.fromEntries(Object.entries(tools).map(([name, { interfaceDigest }]) => [name, interfaceDigest]));
}

/** @param view the tool as the workflow calls it; `now`: as others do */
function findingOn(name: string, tool: WorkflowTool, { view, now }: { readonly view: ToolView | undefined; readonly now: ToolView | undefined }): readonly Pick<WorkflowFinding, "severity" | "message">[] {
  if (view === undefined || now === undefined) return [{ severity: "broken", message: `${name} is gone, or may not be called any more` }];
  if (strongest([tool.effect, view.spec.effect]) !== tool.effect) return [{ severity: "broken", message: `${name} is ${view.spec.effect} now; the workflow was saved when it was ${tool.effect}` }];
  if (view.interfaceDigest !== tool.interfaceDigest) return [{ severity: "changed", message: `${name} has another interface than when the workflow was saved: ${view.signature}` }];
  if (now.interfaceDigest !== tool.interfaceDigest) return [{ severity: "changed", message: `${name} has another interface by now (version ${now.spec.version}) and keeps the one of version ${view.spec.version}, as which the workflow calls it: ${now.signature}` }];
  if (view.definitionDigest !== tool.definitionDigest) return [{ severity: "changed", message: `${name} is declared differently than when the workflow was saved; its interface is the same` }];
  return [];
}

/** Whether every tool is as it was; cheap, for each call of a workflow. */
export function isLocked(gate: Gate, { manifest }: Workflow, principal: Principal): boolean {
  const views = gate.describe(Object.keys(manifest.tools), { principal, interfaces: lockOf(manifest) });
  return views.length === Object.keys(manifest.tools).length && views.every(({ name, interfaceDigest }) => manifest.tools[name]?.interfaceDigest === interfaceDigest);
}

/** What the check says of the program with the tools as they are called, with the place in the workflow's own text. */
async function typeBreaks(gate: Gate, { manifest, program, recordings }: Workflow, { principal, signal }: CheckWorkflowOptions): Promise<readonly WorkflowFinding[]> {
  const inputs = recordings[0]?.inputs ?? {};
  const checked = await gate.check(composeProgram(manifest, program, inputs), { language: manifest.language, interfaces: lockOf(manifest), ...(principal === undefined ? {} : { principal }), ...(signal === undefined ? {} : { signal }) });
  return checked.diagnostics.filter(({ severity }) => severity === "error").map(({ line, message, excerpt, declaration }) => ({
    workflow: manifest.name,
    severity: "broken",
    message: [`line ${line}: ${message}`, ...(excerpt === undefined || line === 1 ? [] : [`  ${line} │ ${excerpt}`]), ...(declaration === undefined ? [] : declaration.split("\n").map((text) => `      ${text}`))].join("\n"),
  }));
}

/** What was given and got when it was recorded, held against the schemas of the tools as they are called. */
function recordedBreaks({ manifest, recordings }: Workflow, views: ReadonlyMap<string, ToolView>): readonly WorkflowFinding[] {
  const found = recordings.flatMap(({ recording }) => recording.answers.flatMap((answer) => (answer.kind === "tool" ? recordedBreaksOf(answer, views.get(answer.tool)) : [])));
  return [...new Map(found.map((one) => [one.message, { workflow: manifest.name, ...one }])).values()];
}

function recordedBreaksOf({ tool, args, result }: Extract<RecordingAnswer, { kind: "tool" }>, view: ToolView | undefined): readonly Omit<WorkflowFinding, "workflow">[] {
  if (view === undefined) return [];
  const given = "value" in args ? firstIssue(view.spec.input, args.value) : undefined;
  const got = result.kind === "value" && "value" in result.value && view.spec.output !== undefined ? firstIssue(view.spec.output, result.value.value) : undefined;
  return [
    ...(given === undefined ? [] : [{ severity: "broken" as const, tool, message: `${tool} would refuse what the workflow gave it when it was recorded (${given})` }]),
    ...(got === undefined ? [] : [{ severity: "changed" as const, tool, message: `${tool} answers in another form than when the workflow was recorded (against its schema of now: ${got})` }]),
  ];
}

/** Undefined: the value fits. */
export function firstIssue(schema: ToolView["spec"]["input"], value: unknown): string | undefined {
  const parsed = createSchemaValidator(schema).validate(value);
  if (parsed.kind === "ok") return undefined;
  const [issue] = parsed.issues;
  return `${issue?.path === "" || issue === undefined ? "" : `${issue.path}: `}${issue?.message ?? "does not match the schema"}`;
}

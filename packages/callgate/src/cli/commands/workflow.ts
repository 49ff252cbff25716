import { relative } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Gate, Workflow, WorkflowFinding, WorkflowTest } from "@callgate/contract";
import { checkWorkflow, makeWorkflow, nextVersion, readWorkflows, relockWorkflow, testWorkflow, wideningsBetween, writeWorkflow } from "@callgate/runtime/workflow";
import type { WorkflowFolder } from "@callgate/runtime/workflow";
import { workflowsFolderOf } from "../../open-gate.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";
import { callCommand } from "./call.ts";

/** The folder of workflows, trusted, and what is in it. */
async function workflowsHere(context: CommandContext): Promise<WorkflowFolder & { readonly folder: string }> {
  const folder = workflowsFolderOf(await context.configuration());
  if (folder === undefined) throw new CallgateError("USAGE", "The configuration says workflowsFolder: false, so there are no workflows here");
  return { folder, ...readWorkflows(folder) };
}

async function oneOf(name: string, context: CommandContext): Promise<Workflow> {
  const { workflows, problems } = await workflowsHere(context);
  const found = workflows.find(({ manifest }) => manifest.name === name);
  const problem = problems.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new CallgateError("USAGE", problem?.message ?? `There is no workflow ${name}; there are ${workflows.map(({ manifest }) => manifest.name).join(", ") || "none"}`);
}

export interface SaveOptions {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly fixed?: readonly string[];
}

/** `callgate workflow save RUN --name NAME` */
export async function saveWorkflowCommand(runId: string, { name, version, description, fixed }: SaveOptions, context: CommandContext): Promise<ExitCode> {
  const { folder, workflows } = await workflowsHere(context);
  const before = workflows.find(({ manifest }) => manifest.name === name);
  return await context.withGate(async (gate) => {
    const made = await makeWorkflow(gate, { runId, name, version: version ?? "1.0.0", description: description ?? before?.manifest.description ?? `Saved from run ${runId}`, ...(fixed === undefined ? {} : { fixed }), ...(before === undefined ? {} : { before }) });
    const saved = before === undefined ? made : { ...made, manifest: { ...made.manifest, version: nextVersion(before.manifest, made.manifest, version) } };
    const place = writeWorkflow(folder, saved);
    const { manifest } = saved;
    const changes = before === undefined ? [] : wideningsBetween(before.manifest, manifest);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ place, manifest, changes })}\n`);
    else {
      terminal.out(`${relative(process.cwd(), place)} holds workflows.${manifest.name} ${manifest.version}\n`);
      const inputs = Object.keys(saved.recordings[0]?.inputs ?? {});
      terminal.err(`${inputs.length === 0 ? "It takes no inputs" : `Inputs: ${inputs.join(", ")}`}. Effect: ${manifest.effect}. It may call ${Object.keys(manifest.tools).join(", ") || "nothing"}. Read its files before you commit them; callgate workflow run ${manifest.name} runs it\n`);
      for (const change of changes) terminal.err(`${terminal.colors.yellow("changed")} ${visible(change)}\n`);
    }
    return exitCodes.ok;
  });
}

/** `callgate workflow ls` */
export async function listWorkflowsCommand(context: CommandContext): Promise<ExitCode> {
  const { workflows, problems } = await workflowsHere(context);
  const { terminal } = context;
  if (context.options.json === true) terminal.out(`${JSON.stringify({ workflows: workflows.map(({ manifest, digest, recordings }) => ({ ...manifest, digest, recordings: recordings.length })), problems })}\n`);
  else if (workflows.length + problems.length === 0) terminal.err("No workflows yet; callgate workflow save RUN --name NAME makes one\n");
  else terminal.out(renderTable(["workflow", "version", "effect", "tests", "description"], workflows.map(({ manifest, recordings }) => [manifest.name, manifest.version, manifest.effect, String(recordings.length), visible(manifest.deprecated === undefined ? manifest.description : `deprecated: ${manifest.deprecated}`)]), { columns: terminal.outColumns, colors: terminal.outColors }));
  if (context.options.json !== true) for (const { message } of problems) terminal.err(`${terminal.colors.yellow("note")} ${visible(message)}\n`);
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** `callgate workflow show NAME` */
export async function showWorkflowCommand(name: string, context: CommandContext): Promise<ExitCode> {
  const { manifest, program, digest, recordings } = await oneOf(name, context);
  const { terminal } = context;
  if (context.options.json === true) terminal.out(`${JSON.stringify({ manifest, program, digest, recordings: recordings.map(({ inputs, recording }) => ({ inputs, runId: recording.runId })) })}\n`);
  else {
    const { bold, dim } = terminal.outColors;
    const lines = [
      `${bold(`workflows.${manifest.name}`)} ${manifest.version} · ${manifest.effect} · ${counted(recordings.length, "test")}`,
      visible(manifest.description),
      ...(manifest.deprecated === undefined ? [] : [`deprecated: ${visible(manifest.deprecated)}`]),
      dim(digest),
      "",
      `input   ${visible(JSON.stringify(manifest.input))}`,
      `output  ${visible(JSON.stringify(manifest.output))}`,
      ...Object.entries(manifest.tools).map(([tool, { effect, args }]) => `may call ${tool} (${effect}) with ${visible(JSON.stringify(args))}`),
      "",
      ...program.trimEnd().split("\n").map((line, index) => `${dim(String(index + 1).padStart(4))} ${visible(line)}`),
    ];
    terminal.out(`${lines.join("\n")}\n`);
  }
  return exitCodes.ok;
}

async function chosen(name: string | undefined, context: CommandContext): Promise<WorkflowFolder> {
  return name === undefined ? await workflowsHere(context) : { workflows: [await oneOf(name, context)], problems: [] };
}

/** `callgate workflow check [NAME]` */
export async function checkWorkflowsCommand(name: string | undefined, context: CommandContext): Promise<ExitCode> {
  const { workflows, problems } = await chosen(name, context);
  return await context.withGate(async (gate: Gate) => {
    const unread = problems.map((problem): WorkflowFinding => ({ workflow: problem.name, severity: "broken", message: problem.message }));
    const findings = [...unread, ...(await Promise.all(workflows.map((workflow) => checkWorkflow(gate, workflow, { signal: context.signal })))).flat()];
    const broken = new Set(findings.filter(({ severity }) => severity === "broken").map(({ workflow }) => workflow));
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ checked: workflows.length, broken: [...broken], findings })}\n`);
    else {
      tellFindings(context, findings);
      terminal.out(broken.size === 0 ? `${counted(workflows.length, "workflow")} ${workflows.length === 1 ? "fits its" : "fit their"} tools\n` : `${broken.size} of ${counted(workflows.length, "workflow")} broken; nothing was run\n`);
    }
    return broken.size === 0 ? exitCodes.ok : exitCodes.failed;
  }, { about: "told" });
}

/** `callgate workflow check [NAME] --relock` */
export async function relockWorkflowsCommand(name: string | undefined, context: CommandContext): Promise<ExitCode> {
  const { folder } = await workflowsHere(context);
  const { workflows, problems } = await chosen(name, context);
  return await context.withGate(async (gate) => {
    const unread = problems.map((problem): WorkflowFinding => ({ workflow: problem.name, severity: "broken", message: problem.message }));
    const relocked: { readonly workflow: string; readonly from: string; readonly version: string }[] = [];
    const findings: WorkflowFinding[] = [...unread];
    for (const workflow of workflows) {
      const made = await relockWorkflow(gate, workflow, { signal: context.signal });
      if (made.kind === "refused") findings.push(...made.findings);
      if (made.kind !== "relocked") continue;
      writeWorkflow(folder, made.workflow);
      relocked.push({ workflow: workflow.manifest.name, from: workflow.manifest.version, version: made.workflow.manifest.version });
    }
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ checked: workflows.length, relocked, findings })}\n`);
    else {
      for (const one of relocked) terminal.out(`${terminal.outColors.green("locked ")} ${one.workflow}: ${one.from} is ${one.version} now\n`);
      tellFindings(context, findings);
      terminal.out(`${counted(relocked.length, "workflow")} locked on the tools as they are now; nothing was run\n`);
    }
    return findings.length === 0 ? exitCodes.ok : exitCodes.failed;
  }, { about: "told" });
}

function tellFindings({ terminal }: CommandContext, findings: readonly WorkflowFinding[]): void {
  for (const { workflow, severity, message } of findings) terminal.out(`${severity === "broken" ? terminal.outColors.red("broken ") : terminal.outColors.yellow("changed")} ${workflow}: ${message.split("\n").map(visible).join("\n")}\n`);
}

/** `callgate workflow test [NAME]` */
export async function testWorkflowsCommand(name: string | undefined, context: CommandContext): Promise<ExitCode> {
  const { workflows, problems } = await chosen(name, context);
  return await context.withGate(async (gate) => {
    const tests: WorkflowTest[] = [];
    for (const workflow of workflows) tests.push(...(await testWorkflow(gate, workflow, { signal: context.signal })));
    const failed = tests.filter(({ passed }) => !passed);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ tests, problems })}\n`);
    else {
      for (const { workflow, runId, passed, failures } of tests) {
        terminal.out(`${passed ? terminal.outColors.green("✓") : terminal.outColors.red("✗")} ${workflow} ${terminal.outColors.dim(runId)}\n`);
        for (const failure of failures) terminal.out(`    ${visible(failure)}\n`);
      }
      for (const { message } of problems) terminal.err(`${visible(message)}\n`);
      terminal.out(`${tests.length - failed.length} of ${counted(tests.length, "test")} passed; nothing was called\n`);
    }
    return failed.length + problems.length === 0 ? exitCodes.ok : exitCodes.failed;
  }, { about: "told" });
}

/** `callgate workflow run NAME [JSON]` */
export async function runWorkflowCommand(name: string, options: { readonly args: string | undefined; readonly budget?: number; readonly task?: string }, context: CommandContext): Promise<ExitCode> {
  await oneOf(name, context);
  return await callCommand(`workflows.${name}`, options, context);
}

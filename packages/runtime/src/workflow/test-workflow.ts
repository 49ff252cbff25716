import { isDeepStrictEqual } from "node:util";
import type { Gate, Principal, Workflow, WorkflowRecording, WorkflowTest } from "@callgate/contract";
import { modelView } from "../result/model-view.ts";
import { firstIssue, lockOf } from "./check-workflow.ts";
import { composeProgram } from "./compose-program.ts";

/** More than any recording holds. */
const budgetTokens = 10_000_000;

/**
 * Runs the contract tests of a workflow: its program as it is now, checked against its tools as it calls them, with the answers and
 * inputs of each recording. Nothing is called.
 */
export async function testWorkflow(gate: Gate, workflow: Workflow, options: { readonly principal?: Principal; readonly signal?: AbortSignal } = {}): Promise<readonly WorkflowTest[]> {
  const tests: WorkflowTest[] = [];
  for (const recorded of workflow.recordings) tests.push(await testOne(gate, workflow, { recorded, options }));
  return tests;
}

async function testOne(gate: Gate, { manifest, program }: Workflow, { recorded, options }: { readonly recorded: WorkflowRecording; readonly options: Parameters<typeof testWorkflow>[2] }): Promise<WorkflowTest> {
  const { inputs, recording } = recorded;
  const { result, newCall, unused } = await gate.runs.edit(recording, { ...options, budgetTokens, interfaces: lockOf(manifest), program: composeProgram(manifest, program, inputs) });
  const value = result.value?.kind === "whole" ? modelView(result.value.value) : result.value?.outline;
  const unfit = result.value?.kind === "whole" && result.value.value !== undefined ? firstIssue(manifest.output, result.value.value) : undefined;
  const failures = [
    ...result.diagnostics.filter(({ severity }) => severity === "error").map(({ line, message }) => `line ${line}: ${message}`),
    ...(newCall === undefined ? [] : [`it calls ${newCall.tool} with ${JSON.stringify(newCall.args)}, for which there is no recorded answer`]),
    ...unused.map(({ tool, args }) => `it does not call ${tool} with ${JSON.stringify(args)} any more`),
    ...(newCall === undefined && result.status !== recording.end.status && result.status !== "rejected" ? [`it ends as ${result.status}${result.error === undefined ? "" : ` (${result.error.code}: ${result.error.message})`}, not as ${recording.end.status}`] : []),
    ...(result.status === "completed" && !isDeepStrictEqual(value, recording.end.value) ? [`it returns ${JSON.stringify(value)}, not ${JSON.stringify(recording.end.value)}`] : []),
    ...(result.status === "completed" && unfit !== undefined ? [`its output schema refuses what it returns: ${unfit}`] : []),
  ];
  return { workflow: manifest.name, runId: recording.runId, passed: failures.length === 0, failures, ...(value === undefined ? {} : { value }) };
}

import { resolve } from "node:path";
import type { Gate } from "@callgate/contract";
import { createWorkflowSource, readWorkflows } from "@callgate/runtime/workflow";
import type { WorkflowSource } from "@callgate/runtime/workflow";

/**
 * The workflows of a folder as a source; undefined where there are none. The caller answers for trust.
 *
 * Errors: none; a workflow that is wrong is a problem of the source.
 */
export function workflowsIn(workflowsFolder: string | false | undefined, folder: string): WorkflowSource | undefined {
  if (workflowsFolder === undefined || workflowsFolder === false) return undefined;
  const found = readWorkflows(resolve(folder, workflowsFolder));
  return found.workflows.length + found.problems.length === 0 ? undefined : createWorkflowSource(found);
}

/** Holds workflows against their tools now and whenever the catalog changes, so that a break is told before anything runs. */
export function keepWorkflowsChecked(gate: Gate, workflows: WorkflowSource): void {
  workflows.attach(gate);
  let checking: Promise<unknown> = gate.ready();
  const check = (): void => {
    // A check that fails is done again by the first call; a gate that was closed needs none.
    checking = checking.then(() => workflows.recheck()).catch(() => undefined);
  };
  check();
  gate.onEvent((event) => {
    if (event.kind === "catalog-changed") check();
  });
}

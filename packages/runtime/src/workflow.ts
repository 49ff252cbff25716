// Door: saved programs.

export { checkWorkflow } from "./workflow/check-workflow.ts";
export { makeWorkflow } from "./workflow/make-workflow.ts";
export type { MakeWorkflowOptions } from "./workflow/make-workflow.ts";
export { relockWorkflow } from "./workflow/relock-workflow.ts";
export type { Relocked } from "./workflow/relock-workflow.ts";
export { wideningsBetween } from "./workflow/save-again.ts";
export { suggestWorkflows } from "./workflow/suggest/suggest-workflows.ts";
export type { SavedByWorkflow, SuggestedWorkflow, SuggestOptions, WorkflowSuggestions } from "./workflow/suggest/suggest-workflows.ts";
export { testWorkflow } from "./workflow/test-workflow.ts";
export { readWorkflows, writeWorkflow } from "./workflow/workflow-folder.ts";
export type { WorkflowFolder } from "./workflow/workflow-folder.ts";
export { createWorkflowSource } from "./workflow/workflow-source.ts";
export type { WorkflowSource } from "./workflow/workflow-source.ts";
export { nextVersion } from "./workflow/workflow-version.ts";

import type { Gate, Workflow, WorkflowFinding, WorkflowManifest } from "@callgate/contract";
import { breaksOf, viewsOf } from "./check-workflow.ts";
import type { CheckWorkflowOptions } from "./check-workflow.ts";
import { strongest } from "./make-workflow.ts";
import { testWorkflow } from "./test-workflow.ts";
import { nextVersion } from "./workflow-version.ts";

/** `refused`: it does not fit the tools as they are now, and why; it is as it was. */
export type Relocked =
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly findings: readonly WorkflowFinding[] }
  | { readonly kind: "relocked"; readonly workflow: Omit<Workflow, "digest"> };

/**
 * Locks a workflow on its tools as they are now, where it fits them: its program passes the check, what its recordings gave
 * is still taken, and its contract tests pass. Its version is the next that fits what that changes for callers. Nothing is called.
 */
export async function relockWorkflow(gate: Gate, workflow: Workflow, options: CheckWorkflowOptions = {}): Promise<Relocked> {
  const { manifest } = workflow;
  const names = Object.keys(manifest.tools);
  const views = viewsOf(gate.describe(names, options.principal === undefined ? {} : { principal: options.principal }));
  const unfit = names.flatMap((name): readonly WorkflowFinding[] => {
    const [tool, now] = [manifest.tools[name], views.get(name)];
    if (now === undefined) return [{ workflow: manifest.name, severity: "broken", tool: name, message: `${name} is gone, or may not be called any more` }];
    if (tool === undefined || strongest([tool.effect, now.spec.effect]) === tool.effect) return [];
    return [{ workflow: manifest.name, severity: "broken", tool: name, message: `${name} is ${now.spec.effect} now, not ${tool.effect}: look at it, and save the workflow again` }];
  });
  if (unfit.length > 0) return { kind: "refused", findings: unfit };
  const tools: WorkflowManifest["tools"] = Object.fromEntries([...views].map(([name, { spec: { effect }, interfaceDigest, definitionDigest }]) => [name, { effect, interfaceDigest, definitionDigest, args: manifest.tools[name]?.args ?? false }]));
  if (names.every((name) => JSON.stringify(tools[name]) === JSON.stringify(manifest.tools[name]))) return { kind: "unchanged" };
  const draft: WorkflowManifest = { ...manifest, tools, effect: strongest(Object.values(tools).map(({ effect }) => effect)) };
  const locked: Workflow = { ...workflow, manifest: { ...draft, version: nextVersion(manifest, draft, undefined) } };
  const broken = (await breaksOf(gate, locked, { views, options })).filter(({ severity }) => severity === "broken");
  const findings = broken.length > 0 ? broken : await failedTests(gate, locked, options);
  const { digest: _digest, ...written } = locked;
  return findings.length > 0 ? { kind: "refused", findings } : { kind: "relocked", workflow: written };
}

async function failedTests(gate: Gate, workflow: Workflow, options: CheckWorkflowOptions): Promise<readonly WorkflowFinding[]> {
  const tests = await testWorkflow(gate, workflow, options);
  return tests.flatMap(({ runId, failures }) => failures.map((failure): WorkflowFinding => ({ workflow: workflow.manifest.name, severity: "broken", message: `its test of run ${runId}: ${failure}` })));
}

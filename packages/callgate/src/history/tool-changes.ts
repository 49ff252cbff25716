import { CallgateError } from "@callgate/contract";
import type { Diagnostic, Digest, Gate, PolicyFinding, RunRecord, Workflow, WorkflowFinding } from "@callgate/contract";
import { compareTools } from "@callgate/runtime/catalog";
import type { ToolChange } from "@callgate/runtime/catalog";
import { checkWorkflow } from "@callgate/runtime/workflow";
import type { ToolHistory, ToolMoment } from "./tool-history.ts";

/** A program on record that does not pass the check with the tools of now. */
export interface BrokenProgram {
  /** The newest run of it. */
  readonly runId: string;
  readonly runs: number;
  readonly errors: readonly Diagnostic[];
}

/** What changed in the tools of a namespace. */
export interface NamespaceChanges {
  readonly namespace: string;
  readonly from: Pick<ToolMoment, "atMs" | "digest">;
  readonly to: Pick<ToolMoment, "atMs" | "digest">;
  /** `keeps`: whoever was checked against the interface of then is served as that older version. */
  readonly changes: readonly (ToolChange & { readonly keeps: boolean })[];
}

export interface ToolChanges {
  readonly namespaces: readonly NamespaceChanges[];
  readonly workflows: readonly WorkflowFinding[];
  readonly programs: readonly BrokenProgram[];
  /** Recorded programs that use what changed and still pass. */
  readonly programsThatFit: number;
  /** What is wrong with rules now and was not then. */
  readonly policies: readonly PolicyFinding[];
}

export interface ToolChangesOptions {
  readonly history: ToolHistory;
  readonly workflows: readonly Workflow[];
  /** Default: all. */
  readonly namespace?: string;
  /** A time, or the digest of what the tools were; its first hex digits will do. Default: before the last change. */
  readonly since?: { readonly atMs: number } | { readonly digest: string };
  /** Newest recorded runs that are looked at. Default 200. */
  readonly runs?: number;
  readonly signal?: AbortSignal;
}

/**
 * What changed in the tools of a gate since some time, as types, and what that breaks: workflows, recorded programs, rules.
 * Nothing is run.
 *
 * Errors: `CallgateError` USAGE for a namespace that nothing is known of, or a digest that no tools had.
 */
export async function toolChanges(gate: Gate, options: ToolChangesOptions): Promise<ToolChanges> {
  const { history, namespace, since, workflows, runs = 200, signal } = options;
  const known = history.namespaces();
  if (namespace !== undefined && !known.includes(namespace)) throw new CallgateError("USAGE", `Nothing is on record of the tools of ${namespace}; there are ${known.join(", ") || "none"}`);
  const pairs = (namespace === undefined ? known : [namespace]).flatMap((name) => pairOf(name, history.moments(name), since));
  if (pairs.length === 0 && since !== undefined && "digest" in since) throw new CallgateError("USAGE", `No tools on record have the digest ${since.digest}; callgate diff --json shows those there are`);
  const namespaces = pairs.map(({ name, from, to }): NamespaceChanges => ({
    namespace: name,
    from: momentOf(from),
    to: momentOf(to),
    changes: compareTools(from.tools, to.tools).map((change) => ({ ...change, keeps: isKept(gate, from, change) })),
  })).filter(({ changes }) => changes.length > 0);
  const changed = new Set(namespaces.flatMap(({ changes }) => changes.map(({ tool }) => tool)));
  const used = workflows.filter(({ manifest }) => Object.keys(manifest.tools).some((tool) => changed.has(tool)));
  return {
    namespaces,
    workflows: (await Promise.all(used.map((workflow) => checkWorkflow(gate, workflow, signal === undefined ? {} : { signal })))).flat(),
    ...(await brokenPrograms(gate, { changed, runs, signal })),
    policies: changed.size === 0 ? [] : brokenPolicies(gate, { history, pairs }),
  };
}

interface Pair {
  readonly name: string;
  readonly from: ToolMoment;
  readonly to: ToolMoment;
}

/** Tools that are first known of later than that had nothing before. */
function pairOf(name: string, moments: readonly ToolMoment[], since: ToolChangesOptions["since"]): readonly Pair[] {
  const to = moments.at(-1);
  if (to === undefined) return [];
  if (since === undefined) return [{ name, from: moments.at(-2) ?? to, to }];
  if ("atMs" in since) return [{ name, from: moments.findLast(({ atMs }) => atMs <= since.atMs) ?? moments[0] ?? to, to }];
  const wanted = since.digest.replace(/^sha256:/, "");
  const from = moments.find(({ digest }) => digest.slice("sha256:".length).startsWith(wanted));
  return from === undefined || wanted.length < 4 ? [] : [{ name, from, to }];
}

function momentOf({ atMs, digest }: ToolMoment): Pick<ToolMoment, "atMs" | "digest"> {
  return { atMs, digest };
}

function isKept(gate: Gate, { tools }: ToolMoment, { tool, kind }: ToolChange): boolean {
  const then = tools.find(({ name }) => name === tool)?.interfaceDigest;
  if (kind !== "changed" || then === undefined) return false;
  return gate.describe([tool], { interfaces: { [tool]: then } })[0]?.interfaceDigest === then;
}

interface Looking {
  readonly changed: ReadonlySet<string>;
  readonly runs: number;
  readonly signal: AbortSignal | undefined;
}

/** Each text once, as what it was checked against. A workflow's own runs are the workflow's matter. */
async function brokenPrograms(gate: Gate, { changed, runs, signal }: Looking): Promise<Pick<ToolChanges, "programs" | "programsThatFit">> {
  const found = new Map<string, { readonly run: RunRecord; readonly interfaces: Readonly<Record<string, Digest>>; runs: number }>();
  for (const run of changed.size === 0 ? [] : await gate.runs.list({ kind: "program", limit: runs })) {
    if (run.programText === undefined || run.capabilities !== undefined || run.session !== undefined || run.edits !== undefined) continue;
    const key = JSON.stringify([run.language, run.lane, run.programText]);
    const known = found.get(key);
    if (known !== undefined) known.runs += 1;
    else {
      const interfaces = await interfacesOf(gate, run.runId);
      if (Object.keys(interfaces).some((tool) => changed.has(tool))) found.set(key, { run, interfaces, runs: 1 });
    }
  }
  const programs: BrokenProgram[] = [];
  for (const { run, interfaces, runs: count } of found.values()) {
    const { diagnostics, status } = await gate.check(run.programText ?? "", { language: run.language ?? "typescript", lane: run.lane, interfaces, ...(signal === undefined ? {} : { signal }) });
    if (status === "rejected") programs.push({ runId: run.runId, runs: count, errors: diagnostics.filter(({ severity }) => severity === "error") });
  }
  return { programs, programsThatFit: found.size - programs.length };
}

async function interfacesOf(gate: Gate, runId: string): Promise<Readonly<Record<string, Digest>>> {
  const checked = (await gate.runs.show(runId))?.entries.find((entry) => entry.kind === "checked");
  return checked?.kind === "checked" && checked.ok ? (checked.interfaces ?? {}) : {};
}

/** What is wrong in front of the tools of now, and was not in front of those of then. */
function brokenPolicies(gate: Gate, { history, pairs }: { readonly history: ToolHistory; readonly pairs: readonly Pair[] }): readonly PolicyFinding[] {
  const toolsOf = (which: "from" | "to") =>
    history.namespaces().flatMap((namespace) => {
      const pair = pairs.find(({ name }) => name === namespace);
      const tools = pair === undefined ? (history.moments(namespace).at(-1)?.tools ?? []) : pair[which].tools;
      return tools.map(({ name, spec }) => ({ name, namespace, spec }));
    });
  const before = new Set(gate.policy.findings(toolsOf("from")).map((finding) => JSON.stringify(finding)));
  return gate.policy.findings(toolsOf("to")).filter((finding) => !before.has(JSON.stringify(finding)));
}

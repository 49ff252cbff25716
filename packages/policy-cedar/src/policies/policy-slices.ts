import type { EntityJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { Principal, ToolSpec } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { languageEntity, principalEntity, splitName, toolEntity, unnamedTool } from "../cedar/entities.ts";
import type { NumberedPolicy } from "../cedar/engine.ts";
import type { PolicyEntry } from "./policy-entry.ts";
import { reachOf } from "./reach.ts";
import type { Reach } from "./reach.ts";
import { uidOf } from "./walk.ts";

export interface SlicedPolicy extends NumberedPolicy {
  readonly entry: PolicyEntry;
  /** Whether it matches, as far as it is known without the call. Never "no". */
  readonly reach: Reach;
}

/** The policies that can match one principal and one resource, and both as Cedar sees them. */
export interface PolicySlice {
  readonly principal: EntityJson;
  readonly resource: EntityJson;
  readonly policies: readonly SlicedPolicy[];
  /** JSON Pointers they look at. */
  readonly args: readonly string[];
  readonly results: readonly string[];
  /** False: nothing of the call but its lane matters. */
  readonly dependsOnCall: boolean;
}

export interface PolicySlices {
  /** Errors: UnusableValue. */
  ofTool(principal: Principal, tool: string, spec: ToolSpec): PolicySlice;
  /** The policies about what a tool answered. Errors: UnusableValue. */
  ofResult(principal: Principal, tool: string, spec: ToolSpec): PolicySlice;
  ofLanguage(principal: Principal, language: string): PolicySlice;
  /** Whether a tool of a namespace of which nothing else is known could be visible. */
  reachesNamespace(principal: Principal, namespace: string): boolean;
}

/** By the name of the tool. */
type ToolSlices = Map<string, { readonly spec: ToolSpec; readonly slice: PolicySlice }>;

const maxPrincipals = 256;
const effects = ["read", "write", "destructive"] as const;

/**
 * Cuts all policies down to those a decision has to look at. Slices are kept: by principal as they are, by tool as declared.
 *
 * @param sliced false keeps every policy in every slice
 */
export function createPolicySlices(entries: readonly PolicyEntry[], sliced: boolean): PolicySlices {
  const numbered = entries.map((entry, index) => ({ entry, index, policy: entry.text ?? entry.json }));
  const claims = [...new Set(entries.flatMap(({ uses }) => uses.claims))];
  const calls = createHeads(numbered.filter(({ entry }) => reachesAction(entry, "call")));
  const results = createHeads(numbered.filter(({ entry }) => reachesAction(entry, "result")));
  const runs = numbered.filter(({ entry }) => reachesAction(entry, "run"));
  const whole = (principal: EntityJson, resource: EntityJson): PolicySlice => sliceFrom({ principal, resource }, numbered.map((policy) => ({ ...policy, reach: "maybe" })));
  const kept = new LRUCache<string, { readonly principal: EntityJson; readonly tools: ToolSlices; readonly results: ToolSlices }>({ max: maxPrincipals });

  function known(principal: Principal): { readonly principal: EntityJson; readonly tools: ToolSlices; readonly results: ToolSlices } {
    const { tenant, user, agent, roles, claims: all } = principal;
    const key = JSON.stringify([tenant, user, agent, roles, claims.length === 0 ? null : all]);
    let found = kept.get(key);
    if (found === undefined) kept.set(key, (found = { principal: principalEntity(principal, claims), tools: new Map(), results: new Map() }));
    return found;
  }

  function of(action: "call" | "result", principal: Principal, { tool, spec }: { readonly tool: string; readonly spec: ToolSpec }): PolicySlice {
    const { principal: entity, tools, results: ofResults } = known(principal);
    const slices = action === "call" ? tools : ofResults;
    const before = slices.get(tool);
    // Another declaration under the same name is another tool.
    if (before?.spec === spec) return before.slice;
    const resource = toolEntity(tool, spec);
    const slice = sliced ? sliceOf((action === "call" ? calls : results).of(tool), { principal: entity, action, resource }) : whole(entity, resource);
    slices.set(tool, { spec, slice });
    return slice;
  }

  return {
    ofTool: (principal, tool, spec) => of("call", principal, { tool, spec }),
    ofResult: (principal, tool, spec) => of("result", principal, { tool, spec }),
    reachesNamespace(principal, namespace) {
      const denials = numbered.filter(({ entry }) => entry.verdict === "deny");
      const { principal: entity } = known(principal);
      return effects.some((effect) => !denials.some(({ entry }) => reachOf(entry.json, { principal: entity, action: "call", resource: unnamedTool(namespace, effect) }) === "yes"));
    },
    ofLanguage: (principal, language) => sliceOf(runs, { principal: known(principal).principal, action: "run", resource: languageEntity(language) }),
  };
}

type Numbered = Omit<SlicedPolicy, "reach">;

function sliceOf(candidates: readonly Numbered[], pair: { readonly principal: EntityJson; readonly action: string; readonly resource: EntityJson }): PolicySlice {
  const policies = candidates.flatMap((candidate): readonly SlicedPolicy[] => {
    const reach = reachOf(candidate.entry.json, pair);
    return reach === "no" ? [] : [{ ...candidate, reach }];
  });
  return sliceFrom(pair, policies);
}

function sliceFrom({ principal, resource }: Pick<PolicySlice, "principal" | "resource">, policies: readonly SlicedPolicy[]): PolicySlice {
  return {
    principal,
    resource,
    policies,
    args: [...new Set(policies.flatMap(({ entry }) => entry.uses.args))],
    results: [...new Set(policies.flatMap(({ entry }) => entry.uses.results))],
    dependsOnCall: policies.some(({ entry }) => entry.uses.call),
  };
}

function reachesAction({ json }: PolicyEntry, action: string): boolean {
  return reachOf({ ...json, conditions: [], principal: { op: "All" }, resource: { op: "All" } }, { action, resource: languageEntity("") }) !== "no";
}

/** Policies about one tool, or one namespace, lie with that: of a thousand of those, a decision looks at few. */
function createHeads(policies: readonly Numbered[]): { of(tool: string): readonly Numbered[] } {
  const kept = { Tool: new Map<string, Numbered[]>(), Namespace: new Map<string, Numbered[]>() };
  const general: Numbered[] = [];
  for (const policy of policies) {
    const { resource } = policy.entry.json;
    const head = "entity" in resource ? uidOf(resource.entity) : undefined;
    // A tool is in itself and in its namespace; other groups say too little.
    const place = head?.type === "Tool" ? kept.Tool : head?.type === "Namespace" ? kept.Namespace : undefined;
    if (head === undefined || place === undefined) general.push(policy);
    else place.set(head.id, [...(place.get(head.id) ?? []), policy]);
  }
  return {
    of(tool) {
      const own = [...(kept.Tool.get(tool) ?? []), ...(kept.Namespace.get(splitName(tool)[0]) ?? [])];
      return own.length === 0 ? general : [...general, ...own].sort((one, other) => one.index - other.index);
    },
  };
}

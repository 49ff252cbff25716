import type { PolicyFinding, PolicyTool } from "@callgate/contract";
import { nearestNames } from "@callgate/runtime/catalog";
import { toolEntity } from "./cedar/entities.ts";
import type { PolicyEntry } from "./policies/policy-entry.ts";
import { reachOf } from "./policies/reach.ts";
import { entitiesIn, uidOf } from "./policies/walk.ts";

interface Known {
  readonly tools: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly groups: Readonly<Record<"Tag" | "Permission" | "Label", ReadonlySet<string>>>;
  readonly all: readonly { readonly tool: PolicyTool; readonly entity: ReturnType<typeof toolEntity> }[];
}

/**
 * What is wrong with policies in front of these tools: names that no tool has, policies that can match none of them (after
 * a rename, for instance), arguments that no tool they reach takes. A name that is not there is an error: a denial that
 * names it denies nothing.
 */
export function findingsOf(entries: readonly PolicyEntry[], tools: readonly PolicyTool[]): readonly PolicyFinding[] {
  const known: Known = {
    tools: new Set(tools.map(({ name }) => name)),
    namespaces: new Set(tools.map(({ namespace }) => namespace)),
    groups: { Tag: new Set(tools.flatMap(({ spec }) => spec.tags)), Permission: new Set(tools.flatMap(({ spec }) => spec.permissions)), Label: new Set(tools.flatMap(({ spec }) => spec.labels)) },
    all: tools.flatMap((tool) => (tool.name.isWellFormed() ? [{ tool, entity: toolEntity(tool.name, tool.spec) }] : [])),
  };
  return entries.flatMap((entry) => findingsOfOne(entry, known));
}

function findingsOfOne(entry: PolicyEntry, known: Known): readonly PolicyFinding[] {
  const finding = (severity: PolicyFinding["severity"], message: string): PolicyFinding => ({ severity, ruleId: entry.id, place: entry.place, message });
  const unknown = unknownNames(entry, known).map(({ severity, message }) => finding(severity, message));
  const { action } = entry.json;
  const about = action.op === "==" && "entity" in action ? uidOf(action.entity).id : "call";
  if (about === "run") return unknown;
  const reached = known.all.filter(({ entity }) => reachOf(entry.json, { action: about, resource: entity }) !== "no");
  if (unknown.some(({ severity }) => severity === "error")) return unknown;
  if (reached.length === 0 && action.op !== "All") return [...unknown, finding("warning", "can match no tool there is")];
  return [...unknown, ...unknownArguments(entry, reached.map(({ tool }) => tool)).map((message) => finding("error", message))];
}

type Problem = Pick<PolicyFinding, "severity" | "message">;

function unknownNames(entry: PolicyEntry, { tools, namespaces, groups }: Known): readonly Problem[] {
  return entitiesIn(entry.json).flatMap(({ type, id }): readonly Problem[] => {
    if (type === "Tool" && !tools.has(id)) return [{ severity: "error", message: `there is no tool "${id}"${didYouMean(id, tools)}` }];
    if (type === "Namespace" && !namespaces.has(id)) return [{ severity: "error", message: `there is no namespace "${id}"${didYouMean(id, namespaces)}` }];
    if (type === "Tag" || type === "Permission" || type === "Label") {
      const group = groups[type];
      if (!group.has(id)) return [{ severity: "warning", message: `no tool has the ${type.toLowerCase()} "${id}"${didYouMean(id, group)}` }];
    }
    return [];
  });
}

/** A path whose first step none of the tools takes, where all of them say what they take. */
function unknownArguments(entry: PolicyEntry, reached: readonly PolicyTool[]): readonly string[] {
  const declared = reached.map(({ spec }) => propertiesOf(spec.input));
  if (reached.length === 0 || declared.some((names) => names === undefined)) return [];
  const names = new Set(declared.flatMap((all) => all ?? []));
  return entry.uses.args.flatMap((pointer) => {
    const [, first = ""] = pointer.split("/");
    if (!pointer.startsWith("/")) return [`looks at context.args["${pointer}"]; arguments are named by JSON Pointers, so write context.args["/${pointer}"]`];
    return names.has(first.replace(/~1/g, "/").replace(/~0/g, "~")) ? [] : [`no tool it can match takes an argument ${pointer}${didYouMean(first, names)}`];
  });
}

/** Undefined where a schema lets other properties through, or says nothing of them. */
function propertiesOf(schema: PolicyTool["spec"]["input"]): readonly string[] | undefined {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return undefined;
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : undefined;
}

function didYouMean(name: string, candidates: Iterable<string>): string {
  const [near] = nearestNames(name, candidates, 1);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

import type { CedarValueJson, EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { Principal, ToolSpec } from "@callgate/contract";
import { recordsAt, unicode } from "./value-record.ts";

/** The principal as policies see it: a user, in its roles, its agent and its tenant. Errors: UnusableValue. */
export function principalEntity({ user, agent, tenant, roles, claims }: Principal, claimPointers: readonly string[]): EntityJson {
  const attrs: Record<string, CedarValueJson> = { user, tenant, claims: recordsAt(claims, claimPointers), ...(agent === undefined ? {} : { agent }) };
  const named = (type: string, id: string): TypeAndId => ({ type, id: unicode(id, `the principal's ${type.toLowerCase()}`) });
  return { uid: named("User", user), attrs, parents: [named("Tenant", tenant), ...(agent === undefined ? [] : [named("Agent", agent)]), ...new Set(roles)].map((parent) => (typeof parent === "string" ? named("Role", parent) : parent)) };
}

/** A tool as policies see it: in its namespace and effect, and in what it declares. Errors: UnusableValue. */
export function toolEntity(tool: string, { effect, tags, permissions, labels }: ToolSpec): EntityJson {
  const [namespace, name] = splitName(unicode(tool, "the tool's name"));
  const all = (type: string, ids: readonly string[]): TypeAndId[] => ids.map((id) => ({ type, id: unicode(id, `a ${type.toLowerCase()} of the tool`) }));
  return { uid: { type: "Tool", id: tool }, attrs: { name, namespace }, parents: [...all("Namespace", [namespace]), ...all("Effect", [effect]), ...all("Tag", tags), ...all("Permission", permissions), ...all("Label", labels)] };
}

/** A tool of which only its namespace and effect are known: its name is left open. */
export function unnamedTool(namespace: string, effect: ToolSpec["effect"]): EntityJson {
  return { uid: { type: "Tool", id: "" }, attrs: { namespace }, parents: [{ type: "Namespace", id: namespace }, { type: "Effect", id: effect }] };
}

export function languageEntity(language: string): EntityJson {
  return { uid: { type: "Language", id: language }, attrs: {}, parents: [] };
}

/** Namespace and tool of a qualified name. */
export function splitName(tool: string): readonly [string, string] {
  const dot = tool.indexOf(".");
  return [tool.slice(0, Math.max(0, dot)), tool.slice(dot + 1)];
}

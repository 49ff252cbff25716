import type { Effect, JsonValue, Lane, Reach } from "@callgate/contract";
import { visible } from "../lib/visible.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { CatalogView } from "./catalog-view.ts";

type ReachView = Pick<CatalogView, "catalog" | "tools">;

/** Tools that are named to who looks at a program; of more their number is told. */
const maxNamed = 50;

const effects: readonly Effect[] = ["destructive", "write", "read"];

/**
 * What a program can call, for who reviews it: each tool with its effect, most dangerous first; or, where it chooses tools
 * while it runs, how many of each effect its caller may call. In the lane `query` it reaches reads only.
 */
export function programReach(view: ReachView, lane: Lane, reach: Reach): JsonValue {
  const known = reachedTools(view, lane, reach);
  if (reach.tools === "*") return { any: Object.fromEntries(effects.map((effect) => [effect, known.filter(({ tool }) => tool.effect === effect).length])) };
  const sorted = effects.flatMap((effect) => known.filter(({ tool }) => tool.effect === effect));
  return { tools: sorted.slice(0, maxNamed).map(({ name, tool: { effect } }) => ({ tool: name, effect })), more: Math.max(0, sorted.length - maxNamed) };
}

/** What the tools may do that a program can call. */
export function reachedEffects(view: ReachView, lane: Lane, reach: Reach): readonly Effect[] {
  const known = reachedTools(view, lane, reach);
  return effects.filter((effect) => known.some(({ tool }) => tool.effect === effect));
}

function reachedTools({ catalog, tools }: ReachView, lane: Lane, { tools: reached }: Reach): readonly CatalogTool[] {
  const known = reached === "*" ? tools : reached.flatMap((name) => catalog.resolve(name) ?? []);
  return known.filter(({ tool }) => lane === "execute" || tool.effect === "read");
}

/** The same in words, from the summary of a question about a program. Undefined: it says nothing of it, as those of older versions. */
export function reachText(summary: JsonValue): string | undefined {
  const reach = member(summary, "reach");
  const [any, tools, more] = [member(reach, "any"), member(reach, "tools"), member(reach, "more")];
  if (any !== undefined) {
    const counts = effects.flatMap((effect) => { const count = member(any, effect); return typeof count === "number" && count > 0 ? [`${count} that ${count === 1 ? one[effect] : many[effect]}`] : []; });
    return `any tool its caller may call, for it chooses them while it runs: ${counts.join(", ") || "there is none"}`;
  }
  if (!Array.isArray(tools)) return undefined;
  const named = (tools as readonly JsonValue[]).map((tool) => `${nameOf(member(tool, "tool"))} (${one[effects.find((effect) => effect === member(tool, "effect")) ?? "write"]})`);
  return [...(named.length === 0 ? ["no tool"] : named), ...(typeof more === "number" && more > 0 ? [`and ${more} more`] : [])].join(", ");
}

const one: Readonly<Record<Effect, string>> = { read: "reads", write: "changes data", destructive: "DESTROYS data" };
const many: Readonly<Record<Effect, string>> = { read: "read", write: "change data", destructive: "DESTROY data" };

function nameOf(name: JsonValue | undefined): string {
  return typeof name === "string" ? visible(name) : "a tool without a name";
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key) ? (value as Readonly<Record<string, JsonValue>>)[key] : undefined;
}

import type { ToolView } from "@callgate/contract";
import { nearestNames } from "@callgate/runtime/catalog";
import { refused } from "./agent-tool.ts";
import type { AgentTool } from "./agent-tool.ts";

/** Tools that one choice may name. */
const maxSelected = 40;

/** The model picks tools by name; from the next turn on it is shown those. */
export function selectTools(views: readonly ToolView[]): AgentTool {
  const known = new Set(views.map(({ name }) => name));
  return {
    name: "select_tools",
    tool: "select_tools",
    description: `Chooses the tools for the task. There are:\n${views.map(({ name, line, spec }) => `- ${name} [${spec.effect}]: ${line}`).join("\n")}`,
    input: { type: "object", properties: { names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: maxSelected, description: "Qualified names, as listed" } }, required: ["names"], additionalProperties: false },
    perform({ names }) {
      if (!Array.isArray(names) || names.length === 0 || names.length > maxSelected) return Promise.resolve(refused("invalid", `INVALID_INPUT: /names: must be a list of 1 to ${maxSelected} names`));
      const unknown = names.filter((name) => !known.has(String(name))).map(String);
      if (unknown.length > 0) return Promise.resolve(refused("invalid", unknown.map((name) => `There is no tool "${name}".${nearText(name, [...known])}`).join("\n")));
      return Promise.resolve({ status: "ok", text: `Chosen: ${names.join(", ")}. You are shown them now.`, effectStatus: "none", runIds: [], selected: names.map(String) });
    },
  };
}

function nearText(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known, 3);
  return near.length === 0 ? "" : ` Nearest: ${near.join(", ")}`;
}

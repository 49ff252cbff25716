import type { BrokerTool } from "./call.ts";

const none: readonly string[] = [];

/** Where a tool's arguments are sensitive: JSON Pointers into them. */
export function inputPointers(tool: BrokerTool): readonly string[] {
  return pointers(tool, "input");
}

/** The same of its output. */
export function outputPointers(tool: BrokerTool): readonly string[] {
  return pointers(tool, "output");
}

/** `/input/card` becomes `/card`. */
function pointers(tool: BrokerTool, side: "input" | "output"): readonly string[] {
  const { sensitive } = tool.tool;
  if (sensitive === undefined || sensitive.length === 0) return none;
  const prefix = `/${side}`;
  return sensitive.flatMap((pointer) => (pointer === prefix || pointer.startsWith(`${prefix}/`) ? [pointer.slice(prefix.length)] : []));
}

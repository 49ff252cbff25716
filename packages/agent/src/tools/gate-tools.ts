import type { JsonSchema, ToolView } from "@callgate/contract";
import type { AgentTool } from "./agent-tool.ts";
import { functionNames } from "./function-name.ts";
import type { GateCalls } from "./gate-calls.ts";

/** Each tool of the gate as a function of the model. */
export function gateTools(views: readonly ToolView[], calls: GateCalls): readonly AgentTool[] {
  const names = functionNames(views.map(({ name }) => name));
  return views.map(({ name: tool, spec }) => ({
    name: names.get(tool) ?? tool,
    tool,
    description: [spec.description, ...(spec.whenToUse === undefined ? [] : [`When to use: ${spec.whenToUse}`]), ...(spec.deprecated === undefined ? [] : [`Deprecated: ${spec.deprecated}`]), ...(spec.effect === "read" ? [] : [spec.effect === "write" ? "It changes something." : "It destroys something."])].join("\n"),
    input: objectSchema(spec.input),
    examples: spec.examples.map(({ input }) => input),
    perform: (input, at) => calls.call(tool, input, at),
  }));
}

/** Providers take objects only: a schema that says nothing of its type is one of an object here. */
function objectSchema(schema: JsonSchema): JsonSchema {
  return typeof schema === "boolean" ? { type: "object" } : { type: "object", ...schema };
}

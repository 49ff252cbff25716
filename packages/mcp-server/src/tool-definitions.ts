import { inputSchemaOf, toolInputs } from "@callgate/runtime/surface";
import type { GateToolName } from "@callgate/runtime/surface";
import type { Tool } from "@modelcontextprotocol/server";

// The whole surface a client sees, whatever stands behind the gate (DESIGN P16).

const anyObject = { type: "object" } as const;
const runOutput: Tool["outputSchema"] = {
  type: "object",
  properties: {
    runId: { type: "string" },
    status: { enum: ["running", "suspended", "completed", "rejected", "failed", "limit", "crashed", "cancelled", "diverged"] },
    value: {},
    outline: { description: "In place of `value` where that is over the budget" },
    handle: { type: "string" },
    error: anyObject,
    callCount: { type: "integer" },
    durationMs: { type: "integer" },
  },
  required: ["runId", "status", "callCount", "durationMs"],
};

const outputs: Readonly<Record<GateToolName, Tool["outputSchema"]>> = {
  search_tools: { type: "object", properties: { tools: { type: "array", items: anyObject }, namespaces: { type: "array", items: anyObject }, unavailable: { type: "array", items: anyObject } }, required: ["tools"] },
  get_tool_details: { type: "object", properties: { tools: { type: "array", items: anyObject }, unknown: { type: "array", items: anyObject } }, required: ["tools"] },
  call_tool: { type: "object", properties: { runId: { type: "string" }, outcome: { type: "string" }, effectStatus: { enum: ["none", "done", "unknown"] }, status: { description: "In place of the outcome where a person was asked: that of a run" }, value: {}, error: anyObject }, required: ["runId"] },
  execute_code: runOutput,
  query_code: runOutput,
  read_result: { type: "object", properties: { value: {}, runId: { type: "string" }, status: { type: "string" }, total: { type: "integer" }, nextOffset: { type: "integer" }, error: anyObject } },
};

const reads = { readOnlyHint: true, openWorldHint: false } as const;
const annotations: Readonly<Record<GateToolName, Tool["annotations"]>> = {
  search_tools: { title: "Search tools", ...reads },
  get_tool_details: { title: "Tool details", ...reads },
  call_tool: { title: "Call one tool", readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  execute_code: { title: "Run a program", readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  // True by construction: in the read lane the gate refuses every write before it happens. Clients may auto-approve it.
  query_code: { title: "Run a read-only program", readOnlyHint: true, openWorldHint: true },
  read_result: { title: "Read a kept result", ...reads },
};

export interface DefinitionOptions {
  readonly descriptions: Readonly<Record<GateToolName, string>>;
  /** False for clients that would show structured content twice, or know none. */
  readonly structured: boolean;
}

/** The six definitions, always in the same order: clients cache prompts by it. */
export function toolDefinitions({ descriptions, structured }: DefinitionOptions): Tool[] {
  return (Object.keys(toolInputs) as GateToolName[]).map((name) => ({
    name,
    description: descriptions[name],
    inputSchema: inputSchemaOf(name),
    ...(structured ? { outputSchema: outputs[name] } : {}),
    annotations: annotations[name],
  }));
}

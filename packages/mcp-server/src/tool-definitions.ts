import type { JsonObject } from "@callgate/contract";
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";

// The whole surface a client sees, whatever stands behind the gate (DESIGN P16).

const code = z.string().min(1).describe("The program text. A fenced block or a bare async arrow is accepted, too");
const budgetTokens = z.int().min(100).max(100_000).optional().describe("What may come back at most, in tokens. Default 2000; the rest stays readable under a handle");
const runInput = z.strictObject({
  code,
  budgetTokens,
  taskId: z.string().min(1).max(200).optional().describe("Name of the piece of work; sent again under the same name, writes already done are recognised"),
});

export const toolInputs = {
  search_tools: z.strictObject({
    query: z.string().min(1).describe("What you want to do, in a few words"),
    namespace: z.string().optional().describe("Only in this namespace"),
    limit: z.int().min(1).max(50).default(10),
    detail: z.enum(["name", "line", "signature", "full"]).default("signature"),
  }),
  get_tool_details: z.strictObject({ names: z.array(z.string()).min(1).max(30).describe("Qualified names, `namespace.tool`") }),
  call_tool: z.strictObject({
    name: z.string().describe("Qualified name, `namespace.tool`"),
    arguments: z.record(z.string(), z.unknown()).default({}),
    budgetTokens,
  }),
  execute_code: runInput.extend({ rehearse: z.boolean().optional().describe("Try it: reads are live, writes are only recorded and answered by placeholders. A person can approve what it would write") }),
  query_code: runInput,
  read_result: z.strictObject({
    handle: z.string().regex(/^(result|run):\/\//, "must start with result:// or run://").describe("result://..., or run://... of a run that waited for an answer"),
    path: z.string().optional().describe("JSON Pointer or dotted path into the value"),
    offset: z.int().min(0).optional().describe("Items, lines or characters to leave out"),
    limit: z.int().min(1).optional(),
    grep: z.string().optional().describe("Regular expression over items or lines"),
    search: z.string().optional().describe("Ranked passages for a question, for prose"),
    budgetTokens,
  }),
} as const;

export type GateToolName = keyof typeof toolInputs;
export type ToolArguments<Name extends GateToolName> = z.output<(typeof toolInputs)[Name]>;

/** True for one of our own tools. */
export function isGateTool(name: string): name is GateToolName {
  return Object.hasOwn(toolInputs, name);
}

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
  search_tools: { type: "object", properties: { tools: { type: "array", items: anyObject }, unavailable: { type: "array", items: anyObject } }, required: ["tools"] },
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
    inputSchema: inputSchema(name),
    ...(structured ? { outputSchema: outputs[name] } : {}),
    annotations: annotations[name],
  }));
}

function inputSchema(name: GateToolName): Tool["inputSchema"] {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(toolInputs[name], { io: "input" }) as JsonObject & { $schema?: string };
  return { ...schema, type: "object" };
}

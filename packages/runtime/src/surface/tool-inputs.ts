import type { JsonObject } from "@callgate/contract";
import { z } from "zod";

// The tools through which a model reaches all others, whatever stands behind the gate (DESIGN P16).

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
    detail: z.enum(["namespace", "name", "line", "signature", "full"]).default("signature"),
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

/** The arguments of one of our own tools as JSON Schema. */
export function inputSchemaOf(name: GateToolName): JsonObject & { readonly type: "object" } {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(toolInputs[name], { io: "input" }) as JsonObject & { $schema?: string };
  return { ...schema, type: "object" };
}

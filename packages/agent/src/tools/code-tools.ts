import type { Gate, Handle, Principal, ProgramLanguage } from "@callgate/contract";
import { errorText } from "@callgate/runtime";
import { describeTools, findTools, inputSchemaOf, toModelText, toolInputs } from "@callgate/runtime/surface";
import type { GateToolName, SurfaceText, ToolArguments } from "@callgate/runtime/surface";
import { answered, refused } from "./agent-tool.ts";
import type { AgentTool, CallAnswer, CallAt } from "./agent-tool.ts";
import type { GateCalls } from "./gate-calls.ts";

export interface CodeToolsOptions {
  readonly gate: Gate;
  readonly principal: Principal;
  readonly conversation: string;
  readonly resultTokens: number;
  readonly calls: GateCalls;
  readonly allows: (tool: string) => boolean;
  readonly surface: SurfaceText;
}

type Named = "search_tools" | "get_tool_details" | "execute_code" | "read_result";

/** The functions through which a model that writes programs reaches all tools. */
export function codeTools(options: CodeToolsOptions): Readonly<Record<Named, AgentTool>> {
  const finder = { gate: options.gate, principal: options.principal, allows: options.allows };
  const tool = <Name extends Named>(name: Name, perform: (args: ToolArguments<Name>, at: CallAt) => Promise<CallAnswer> | CallAnswer): AgentTool => ({
    name,
    tool: name,
    description: options.surface.descriptions[name],
    input: inputSchemaOf(name),
    async perform(input, at) {
      const read = parse(name, input);
      return read.kind === "ok" ? await perform(read.args, at) : refused("invalid", read.message);
    },
  });
  return {
    search_tools: tool("search_tools", async (args) => answered((await findTools(args, finder)).text)),
    get_tool_details: tool("get_tool_details", (args) => {
      const found = describeTools(args, finder);
      return found.isError === true ? refused("invalid", found.text) : answered(found.text);
    }),
    execute_code: tool("execute_code", async ({ code }, at) => await runShown(options.calls, { language: "typescript", code }, at)),
    read_result: tool("read_result", async (args, at) => await readResult(options, args, at)),
  };
}

function parse<Name extends GateToolName>(name: Name, input: unknown): { readonly kind: "ok"; readonly args: ToolArguments<Name> } | { readonly kind: "invalid"; readonly message: string } {
  const read = toolInputs[name].safeParse(input);
  if (read.success) return { kind: "ok", args: read.data as ToolArguments<Name> };
  return { kind: "invalid", message: `INVALID_INPUT: ${read.error.issues.map(({ path, message }) => `/${path.join("/")}: ${message}`).join("; ")}. Nothing was done.` };
}

/** Runs what the model wrote, and tells of it before and after. */
export async function runShown(calls: GateCalls, { language, code }: { readonly language: ProgramLanguage; readonly code: string }, at: CallAt): Promise<CallAnswer> {
  at.emit({ kind: "code-generation", callId: at.callId, language, code });
  const answer = await calls.run(code, { language }, at);
  at.emit({ kind: "code-execution", callId: at.callId, runId: answer.runIds[0] ?? "", status: runStatus(answer), effectStatus: answer.effectStatus, text: answer.text });
  return answer;
}

const runStatuses = { ok: "completed", invalid: "rejected", failed: "failed", not_executed: "failed", cancelled: "cancelled", waiting: "suspended" } as const;

function runStatus({ status }: CallAnswer): (typeof runStatuses)[CallAnswer["status"]] {
  return runStatuses[status];
}

async function readResult({ gate, principal, conversation, resultTokens }: CodeToolsOptions, { handle, budgetTokens = resultTokens, ...part }: ToolArguments<"read_result">, { signal }: CallAt): Promise<CallAnswer> {
  const given = Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
  const read = await gate.read(handle as Handle, { principal, conversation, signal, budgetTokens, ...given });
  switch (read.kind) {
    case "value": {
      const { value, total, nextOffset } = read;
      return answered(`${toModelText(value)}${nextOffset === undefined ? "" : `\n\nNext: offset ${nextOffset}${total === undefined ? "" : ` of ${total}`}`}`);
    }
    case "artifact":
      return answered(`${read.name} (${read.mimeType}, ${read.bytes.length} bytes) is a file; a program or a tool can take it`);
    case "error":
      return refused("invalid", errorText(read.error));
  }
}

import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Gate, Principal, ToolView } from "@callgate/contract";
import { surfaceText } from "@callgate/runtime/surface";
import type { SurfaceText } from "@callgate/runtime/surface";
import type { AgentMode } from "./agent-options.ts";
import type { AgentSetup } from "./agent-setup.ts";
import { estimateTokens } from "./model/estimate-tokens.ts";
import { promptText } from "./prompts.ts";
import { askUserTool } from "./tools/ask-user.ts";
import type { AgentTool } from "./tools/agent-tool.ts";
import { codeTools } from "./tools/code-tools.ts";
import type { GateCalls } from "./tools/gate-calls.ts";
import { gateTools } from "./tools/gate-tools.ts";
import { handoffTool } from "./tools/handoff.ts";
import { strictProblem } from "./tools/strict-schema.ts";
import { selectTools } from "./tools/select-tools.ts";

/** What the model is shown in one turn, and what stands behind each of its functions. */
export interface AgentSurface {
  readonly mode: Exclude<AgentMode, "auto">;
  readonly system: string;
  readonly tools: readonly AgentTool[];
  readonly toolChoice: "auto" | { readonly tool: string };
}

export interface SurfaceRequest {
  readonly setup: AgentSetup;
  readonly calls: GateCalls;
  readonly conversation: string;
  /** In mode `select`, once there was a choice. */
  readonly selected: readonly string[] | undefined;
}

/** Declarations up to this are cheaper on every turn than a turn for looking. */
const autoTokens = 2_000;

/** Parts that never change come first: the base, the mode, the agent's own instructions. */
export function agentSurface(request: SurfaceRequest): AgentSurface {
  const { setup } = request;
  const { options: { prompts, instructions, handoffs = [], askUser }, gate, principal, allows, output } = setup;
  const views = gate.tools({ principal }).filter(({ name, spec }) => allows(name) && (setup.lane === "execute" || spec.effect === "read"));
  const mode = modeOf(setup, views);
  const surface = surfaceText(gate, principal, allows);
  const own = reached(request, { mode, views, surface });
  const system = [promptText("base", prompts), modeText(setup, { mode, surface, isSelected: request.selected !== undefined }), ...(output === undefined || mode === "blocks" ? [] : [promptText("output", prompts)]), ...(output !== undefined && mode === "blocks" ? [`Your final answer is JSON alone, of this schema:\n${JSON.stringify(output.json)}`] : []), ...(instructions === undefined ? [] : [instructions])].join("\n\n");
  const others = mode === "blocks" ? [] : [...(output === undefined ? [] : [output.tool]), ...(askUser === undefined ? [] : [askUserTool(askUser)]), ...handoffs.map(({ name, description }) => handoffTool({ name, description }))];
  const mustSelect = mode === "select" && request.selected === undefined && views.length > 0;
  return { mode, system, tools: [...own, ...others], toolChoice: mustSelect ? { tool: "select_tools" } : "auto" };
}

function modeOf({ options: { mode = "auto" }, gate, principal }: AgentSetup, views: readonly ToolView[]): AgentSurface["mode"] {
  if (mode !== "auto") return mode;
  return views.length === 0 || declarationTokens(gate, principal, views) <= autoTokens ? "tools" : "code";
}

function declarationTokens(gate: Gate, principal: Principal, views: readonly ToolView[]): number {
  return estimateTokens(gate.declarations({ principal, namespaces: [...new Set(views.map(({ namespace }) => namespace))] }));
}

/** The functions through which tools of the gate are reached. */
function reached({ setup, calls, conversation, selected }: SurfaceRequest, { mode, views, surface }: { readonly mode: AgentSurface["mode"]; readonly views: readonly ToolView[]; readonly surface: SurfaceText }): readonly AgentTool[] {
  const { gate, principal, allows, limits } = setup;
  const code = (shown: SurfaceText): ReturnType<typeof codeTools> => codeTools({ gate, principal, conversation, resultTokens: limits.resultTokens, calls, allows, surface: shown });
  switch (mode) {
    case "blocks":
      return [];
    case "tools":
      return views.length === 0 ? [] : [...gateTools(views, calls), code(surface).read_result];
    case "code": {
      const { search_tools, get_tool_details, execute_code, read_result } = code(surface);
      // With templates there is something to look for, though all types are shown.
      return surface.inlined && gate.templates({ principal }).every(({ tools }) => !tools.every(allows)) ? [execute_code, read_result] : [search_tools, get_tool_details, execute_code, read_result];
    }
    case "select": {
      const choose = selectTools(views);
      if (selected === undefined) return views.length === 0 ? [] : [choose];
      const chosen = views.filter(({ name }) => selected.includes(name));
      const { execute_code, read_result } = code(surfaceText(gate, principal, (tool) => selected.includes(tool) && allows(tool)));
      return [choose, ...gateTools(chosen, calls), withSignatures(execute_code, chosen), read_result];
    }
  }
}

/** Programs of mode `select` are shown the signatures of what was chosen, and of nothing else. */
function withSignatures(tool: AgentTool, chosen: readonly ToolView[]): AgentTool {
  return { ...tool, description: `${tool.description}\n\nChosen tools:\n\`\`\`ts\n${chosen.map(({ namespace, signature }) => `${namespace}.${signature}`).join("\n")}\n\`\`\`` };
}

function modeText({ options: { prompts, languages = ["typescript"] } }: AgentSetup, { mode, surface, isSelected }: { readonly mode: AgentSurface["mode"]; readonly surface: SurfaceText; readonly isSelected: boolean }): string {
  switch (mode) {
    case "tools":
    case "code":
      return promptText(mode, prompts);
    case "select":
      return isSelected ? promptText("selected", prompts) : promptText("select", prompts);
    case "blocks":
      return `${promptText("blocks", prompts).replace("{languages}", languages.join(", "))}\n\n${surface.descriptions.execute_code}`;
  }
}

/** The functions as providers take them. */
export function functionTools(tools: readonly AgentTool[], isStrict = false): readonly LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, input, examples = [] }) => ({
    type: "function",
    name,
    description,
    // A JSON Schema of any dialect; its own gate holds arguments against it.
    inputSchema: input as LanguageModelV4FunctionTool["inputSchema"],
    // A tool that came later, or one of the loop's own, may not be one that can be held to.
    ...(isStrict && strictProblem(input) === undefined ? { strict: true } : {}),
    ...(examples.length === 0 ? {} : { inputExamples: examples.map((example) => ({ input: example as Record<string, never> })) }),
  }));
}

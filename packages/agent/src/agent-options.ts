import { CallgateError } from "@callgate/contract";
import type { Clock, Gate, JsonValue, Lane, Principal, ProgramLanguage } from "@callgate/contract";
import type { SchemaInput } from "@callgate/runtime/source";
import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { Agent } from "./agent.ts";
import type { EscalationAnswer, EscalationItem } from "./agent-result.ts";
import type { PromptName } from "./prompts.ts";
import type { UserQuestion } from "./session/session-state.ts";

/** A language model of an AI SDK provider. */
export type AgentModel = LanguageModelV3 | LanguageModelV4;

/**
 * How the model reaches tools.
 *
 * - `tools`: each tool is one of the model's own; it calls them one by one, or several at once
 * - `code`: it searches, reads details, and writes a program that calls tools as modules
 * - `select`: it first picks tools by name, and is then shown only those: to call, and to write programs with
 * - `blocks`: it answers with fenced code, which is run, and reads the output; for models that cannot call tools
 * - `auto`: `tools` where the declarations of all tools are short, else `code`
 */
export type AgentMode = "tools" | "code" | "select" | "blocks" | "auto";

/** The bounds of one run of an agent. Reaching one ends it with what it has, never with an error. */
export interface AgentLimits {
  /** Answers of the model, retries not counted. Default 25. */
  readonly turns: number;
  /** Calls of the model. Default 200. */
  readonly toolCalls: number;
  /** Of all turns, in and out. Default 1,000,000. */
  readonly tokens: number;
  /** Millionths of a US dollar, of tools and, with `price`, the model. Default: no bound. */
  readonly microUsd: number;
  /** Wall time, people included. Default 30 minutes. */
  readonly wallMs: number;
  /** Turns in a row in which every call failed. Default 5. */
  readonly errors: number;
  /** How often in a row the model may write anew what could not be done as written. Default 3. */
  readonly repairs: number;
  /** Calls of one turn that are under way at once. Default 8. */
  readonly concurrentCalls: number;
  /** Tries of one turn after the first, where the provider fails for a while or breaks off. Default 2. */
  readonly modelRetries: number;
  /** Before the first of them; each further one waits twice as long, or as long as the provider asks for. Default 500. */
  readonly retryMs: number;
  /** One answer of the model. Default 5 minutes. */
  readonly modelMs: number;
  /** How long the model may say nothing before it is asked again. Default 60,000. */
  readonly stallMs: number;
  /** What the history is kept within, about. Default 100,000. */
  readonly historyTokens: number;
  /** What the model may see of one result. Default 2,000. */
  readonly resultTokens: number;
}

export const defaultAgentLimits: AgentLimits = {
  turns: 25,
  toolCalls: 200,
  tokens: 1_000_000,
  microUsd: Number.POSITIVE_INFINITY,
  wallMs: 30 * 60_000,
  errors: 5,
  repairs: 3,
  concurrentCalls: 8,
  modelRetries: 2,
  retryMs: 500,
  modelMs: 5 * 60_000,
  stallMs: 60_000,
  historyTokens: 100_000,
  resultTokens: 2_000,
};

/** Millionths of a US dollar for a million tokens, as providers list it. */
export interface ModelPrice {
  readonly inputMicroUsdPerMTok: number;
  /** Default: as other input. */
  readonly cachedMicroUsdPerMTok?: number;
  readonly outputMicroUsdPerMTok: number;
}

export interface AgentOptions {
  /** Letters, digits, `-` and `_`, at most 40. Names it in events, in handoffs, and as `agent` of the principal. */
  readonly name: string;
  /** For others: when to hand over to it, or to call it. */
  readonly description?: string;
  readonly model: AgentModel;
  readonly instructions?: string;
  readonly gate: Gate;
  /** Patterns over qualified names: `["crm.*"]`. Default: all that the principal may call. */
  readonly tools?: readonly string[];
  /** Default `auto`. */
  readonly mode?: AgentMode;
  /**
   * Asks the provider to hold arguments of tools to their schemas while the model writes them. Providers that do (OpenAI's
   * `strict`) take only schemas in which every parameter is required and every object closed: a tool that has others is an
   * error here, by the name of the parameter. Default false: the gate alone holds arguments to their schemas.
   */
  readonly strict?: boolean;
  readonly limits?: Partial<AgentLimits>;
  readonly price?: ModelPrice;
  /** Default: the gate's. `agent` is filled in. */
  readonly principal?: Principal;
  /** `query`: nothing that writes can be reached. Default `execute`. */
  readonly lane?: Lane;
  /** Of blocks, and of programs beside TypeScript. Default: TypeScript. */
  readonly languages?: readonly ProgramLanguage[];
  /** The answer is a value of this schema. */
  readonly output?: SchemaInput;
  /** The answer where repairs are used up, in place of an escalation. Of the `output` schema where there is one. */
  readonly safeDefault?: JsonValue;
  /**
   * Calls that a person has to allow. `wait`: the gate asks whoever it asks, and the run waits. `suspend`: the run ends as
   * suspended, and `resume` goes on once it was answered, in any process. Default `wait`.
   */
  readonly approvals?: "wait" | "suspend";
  /** Answers what the model asks the user. `suspend`: the run ends as suspended. Default: it cannot ask. */
  readonly askUser?: "suspend" | ((question: UserQuestion, signal: AbortSignal) => Promise<JsonValue> | JsonValue);
  /** Where repairs are used up. Default: the run ends as escalated, and `resume` takes the answer. */
  readonly onEscalation?: (item: EscalationItem, signal: AbortSignal) => Promise<EscalationAnswer> | EscalationAnswer;
  /** Agents that it can hand the conversation to. */
  readonly handoffs?: readonly Agent[];
  /** `answer`: the model is asked once more, without tools, when turns or calls are used up. `summary`: it is not. Default `answer`. */
  readonly closing?: "answer" | "summary";
  /** A line of that summary; `{tool}`, `{status}` and `{result}` are filled in. Default `- {tool} ({status}): {result}`. */
  readonly summaryLine?: string;
  /** Texts in place of the shipped ones. */
  readonly prompts?: Partial<Readonly<Record<PromptName, string>>>;
  /** Names the piece of work for keyed writes (DESIGN P6): with it, the same call twice is one write. */
  readonly taskId?: string;
  /** Default: the host's. */
  readonly clock?: Clock;
}

const wholeLimits = ["turns", "toolCalls", "tokens", "wallMs", "errors", "concurrentCalls", "modelMs", "stallMs", "historyTokens", "resultTokens"] as const;

/** Errors: `CallgateError` USAGE naming the option. */
export function limitsOf(given: Partial<AgentLimits> | undefined, owner: string): AgentLimits {
  const limits = { ...defaultAgentLimits, ...given };
  for (const name of Object.keys(given ?? {})) {
    if (!(name in defaultAgentLimits)) throw new CallgateError("USAGE", `${owner}: there is no limit "${name}"; there are ${Object.keys(defaultAgentLimits).join(", ")}`);
  }
  for (const name of wholeLimits) {
    if (!(limits[name] >= 1)) throw new CallgateError("USAGE", `${owner}: limits.${name} must be a number from 1, not ${String(limits[name])}`);
  }
  for (const name of ["repairs", "modelRetries", "retryMs", "microUsd"] as const) {
    if (!(limits[name] >= 0)) throw new CallgateError("USAGE", `${owner}: limits.${name} must be a number from 0, not ${String(limits[name])}`);
  }
  return limits;
}

/** Errors: `CallgateError` USAGE naming the option. */
export function assertOptions({ name, model, gate, tools, handoffs = [] }: AgentOptions): void {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,40}$/.test(name)) throw new CallgateError("USAGE", `An agent's name is 1 to 40 letters, digits, - and _, not ${JSON.stringify(name)}`);
  const version: unknown = (model as Partial<AgentModel> | undefined)?.specificationVersion;
  if (version !== "v3" && version !== "v4") {
    const what = typeof model === "string" ? "a name; give the model of a provider, such as openai(\"gpt-5\") of @ai-sdk/openai" : version === undefined ? "no language model of an AI SDK provider" : `of specification ${JSON.stringify(version)}; take a provider of AI SDK 6 or 7`;
    throw new CallgateError("USAGE", `Agent "${name}": its model is ${what}`);
  }
  if (typeof (gate as Partial<Gate> | undefined)?.call !== "function") throw new CallgateError("USAGE", `Agent "${name}" has no gate: pass what createCallgate returns`);
  if (tools !== undefined && !Array.isArray(tools)) throw new CallgateError("USAGE", `Agent "${name}": tools is a list of patterns, such as ["crm.*"]`);
  const names = [name, ...handoffs.map((agent) => agent.name)];
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined) throw new CallgateError("USAGE", `Agent "${name}": two agents are called "${twice}"; a handoff would not know which is meant`);
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { createAgent } from "@callgate/agent";
import type { Agent, AgentMode, AgentOptions, AgentResult, SessionState } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type { AgentConfig } from "../../config/agent-schema.ts";
import { definedPrice } from "../../agent/defined-price.ts";
import { openModel } from "../../agent/open-model.ts";
import { createAgentView } from "../agent-view.ts";
import { passOnInterrupts } from "../ask-yes-no.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { terminalAsker } from "../terminal-asker.ts";

export interface AgentCommandOptions {
  readonly mode?: string;
  /** The file of a conversation: read where it is there, written after each task. */
  readonly session?: string;
  /** Goes on with what waits in it. */
  readonly resume?: boolean;
  /** Answers to questions of the model: `CALL=TEXT`. */
  readonly answer?: readonly string[];
}

/** `callgate agent [TASK]`: one task, or a conversation where none is given. */
export async function agentCommand(task: string, options: AgentCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { config, folder } = await context.configuration();
  const model = await openModel(config.agent, { folder, env: process.env });
  const isInteractive = process.stdin.isTTY && process.stderr.isTTY;
  if (task === "" && options.resume !== true && !isInteractive) throw new CallgateError("USAGE", "Say what is to be done: callgate agent \"TASK\"; a conversation needs a terminal");
  if (options.resume === true && (task !== "" || options.session === undefined)) throw new CallgateError("USAGE", "--resume goes with --session FILE and without a task");
  return await context.withGate(async (gate, view) => {
    view.close();
    const agent = createAgent({ ...agentOptions(options, { config: config.agent, isInteractive, context }), model, gate });
    if (options.resume !== true && task === "") return await converse(agent, options, context);
    const state = readSession(options.session);
    const watch = createAgentView(context.terminal);
    const result = options.resume === true ? await resume(agent, state, { options, context, watch }) : await agent.run(task, { signal: context.signal, onEvent: watch, ...(state === undefined ? {} : { state }) });
    keepSession(options.session, result);
    return tell(result, options, context);
  }, { interactive: true });
}

function agentOptions({ mode, session }: AgentCommandOptions, { config, isInteractive, context }: { readonly config: AgentConfig | undefined; readonly isInteractive: boolean; readonly context: CommandContext }): Omit<AgentOptions, "model" | "gate"> {
  const { instructions, tools, limits, price, mode: configured } = config ?? {};
  const suspends = !isInteractive && session !== undefined;
  const defined = <Given extends object>(given: Given): { readonly [Key in keyof Given]?: NonNullable<Given[Key]> } => Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined)) as never;
  return {
    name: "agent",
    mode: (mode as AgentMode | undefined) ?? configured ?? "auto",
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools === undefined ? {} : { tools }),
    // A person reads one question at a time: on a terminal calls go one by one.
    limits: { ...(limits === undefined ? {} : defined(limits)), ...(isInteractive ? { concurrentCalls: 1 } : {}) },
    ...(price === undefined ? {} : { price: definedPrice(price) }),
    ...(suspends ? { approvals: "suspend" as const, askUser: "suspend" as const } : {}),
    ...(isInteractive ? { askUser: terminalAsker(context.terminal) } : {}),
  };
}

/** Task after task, until the input ends. Ctrl-C ends the one under way. */
async function converse(agent: Agent, { session }: AgentCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  let state = readSession(session);
  let code: ExitCode = exitCodes.ok;
  terminal.err(`${terminal.colors.dim("A conversation; an empty line ends it.")}\n`);
  for (;;) {
    const task = await ask(`${terminal.colors.bold("you")} `, context.signal);
    if (task === undefined || task.trim() === "") return context.signal.aborted ? exitCodes.interrupted : code;
    const result = await agent.run(task, { signal: context.signal, onEvent: createAgentView(terminal), ...(state === undefined ? {} : { state }) });
    ({ state } = result);
    keepSession(session, result);
    code = tell(result, {}, context);
    if (context.signal.aborted) return exitCodes.interrupted;
  }
}

async function ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  try {
    return await reader.question(prompt, { signal });
  } catch {
    return undefined;
  } finally {
    reader.close();
  }
}

async function resume(agent: Agent, state: SessionState | undefined, { options, context, watch }: { readonly options: AgentCommandOptions; readonly context: CommandContext; readonly watch: ReturnType<typeof createAgentView> }): Promise<AgentResult> {
  if (state === undefined) throw new CallgateError("USAGE", `There is no conversation in ${options.session ?? ""}`);
  const answers = Object.fromEntries((options.answer ?? []).map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw new CallgateError("USAGE", `--answer takes CALL=ANSWER, not "${pair}"`);
    return [pair.slice(0, at), jsonOr(pair.slice(at + 1))];
  }));
  return await agent.resume(state, { signal: context.signal, onEvent: watch, answers });
}

/** What is JSON is its value; anything else is a text. */
function jsonOr(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    return text as never;
  }
}

function readSession(file: string | undefined): SessionState | undefined {
  if (file === undefined || !existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as SessionState;
  } catch (cause) {
    throw new CallgateError("USAGE", `${file} holds no conversation: it is no JSON`, { cause });
  }
}

/** What the model was shown is in it, in clear: for this user alone. */
function keepSession(file: string | undefined, { state }: AgentResult): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

function tell(result: AgentResult, { session }: AgentCommandOptions, { options, terminal }: CommandContext): ExitCode {
  const { usage, stop } = result;
  if (options.json === true) {
    const { state: _state, ...shown } = result;
    terminal.out(`${JSON.stringify({ ...shown, sessionId: result.state.sessionId })}\n`);
  } else {
    terminal.value(`${result.answer}\n`);
    const cost = usage.microUsd === 0 ? "" : `, ${(usage.microUsd / 1_000_000).toFixed(4)} USD`;
    terminal.err(terminal.colors.dim(`${stop.kind} · ${usage.turns} turns, ${usage.toolCalls} calls, ${usage.isEstimated ? "about " : ""}${usage.inputTokens} tokens in, ${usage.outputTokens} out${cost} · ${result.model} · ${result.runId}\n`));
    if (stop.kind === "suspended") terminal.err(waitingText(stop.waits, session));
  }
  return exitCodeOf(result);
}

function waitingText(waits: Extract<AgentResult["stop"], { kind: "suspended" }>["waits"], session: string | undefined): string {
  const lines = waits.map((wait) => (wait.kind === "question" ? `${wait.question.question}  (--answer ${wait.callId}=...)` : `${wait.tool}: ${wait.questions.map(({ approvalId }) => `callgate approvals show ${approvalId}`).join(", ")}`));
  return `Waits for:\n${lines.map((line) => `  ${line}\n`).join("")}Then: callgate agent --resume --session ${session ?? "FILE"}\n`;
}

function exitCodeOf({ stop }: AgentResult): ExitCode {
  switch (stop.kind) {
    case "answered":
    case "defaulted":
    case "taken_over":
      return exitCodes.ok;
    case "suspended":
      return exitCodes.approvalPending;
    case "budget":
      return exitCodes.limit;
    case "cancelled":
    case "aborted":
      return exitCodes.interrupted;
    case "escalated":
    case "failed":
      return exitCodes.failed;
  }
}

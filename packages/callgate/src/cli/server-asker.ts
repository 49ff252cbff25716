import * as clack from "@clack/prompts";
import type { AskServerQuestion, ServerAnswer, ServerQuestion } from "@callgate/contract";
import { askForm } from "./form/ask-form.ts";
import type { FormPlace } from "./form/ask-form.ts";
import { visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

export interface ServerAskerOptions {
  readonly terminal: Pick<Terminal, "colors" | "err">;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly pause?: () => void;
  readonly resume?: () => void;
}

/**
 * Asks the person at the terminal what an MCP server wants to know. Whose question it is stands before it and before every
 * line of it, so that it cannot pass for one of Callgate's (security mcp-006). A page is shown and never opened.
 */
export function createServerAsker(options: ServerAskerOptions): AskServerQuestion {
  return async (question, signal) => {
    options.pause?.();
    try {
      options.terminal.err(headOf(question, options.terminal));
      return await answerOf(question, { input: options.input, output: options.output, signal });
    } finally {
      options.resume?.();
    }
  };
}

/** What a server says is its own words, on lines of its own. */
export function headOf(question: ServerQuestion, { colors }: Pick<Terminal, "colors">): string {
  const name = visible(question.namespace);
  const whose = `${colors.bold(`The MCP server "${name}" asks you`)}${question.tool === undefined ? "" : ` for its tool ${visible(question.tool)}`}. Callgate does not ask this: your answer goes to that server, and permits nothing.`;
  const lines = question.message.split(/\r?\n/).slice(0, 30).map((line) => `${colors.dim(`${name} |`)} ${visible(line)}`);
  const page = question.kind === "url" ? [`${colors.dim(`${name} |`)} page at ${colors.bold(visible(new URL(question.url).host))}: ${visible(question.url)}`] : [];
  return `${[whose, ...lines, ...page].join("\n")}\n`;
}

async function answerOf(question: ServerQuestion, place: FormPlace): Promise<ServerAnswer> {
  const yes = question.kind === "url" ? "I have opened that page myself, or will" : "Answer";
  const choice = await clack.select({ ...place, message: `Answer ${visible(question.namespace)}?`, options: [{ value: "declined", label: "No" }, { value: "given", label: yes }], initialValue: "declined" });
  place.signal.throwIfAborted();
  if (clack.isCancel(choice)) return { kind: "cancelled" };
  if (choice === "declined") return { kind: "declined" };
  if (question.kind === "url") return { kind: "given", values: {} };
  const values = await askForm(question.schema, place);
  place.signal.throwIfAborted();
  return values === undefined ? { kind: "cancelled" } : { kind: "given", values };
}

import { randomInt } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { ApprovalAnswer, ApprovalQuestion, Approver } from "@callgate/contract";
import { passOnInterrupts } from "./ask-yes-no.ts";
import type { Terminal } from "./terminal.ts";
import { visible } from "./terminal.ts";

/** Short, distinct, easy to type. */
const words = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "harbor", "ivory", "jade", "kelp", "lotus", "maple", "north", "olive", "pearl", "quartz", "river", "stone", "tulip"];

export interface TtyApproverOptions {
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  readonly user: string;
  readonly now: () => number;
  /** Picks the word to type. */
  readonly pick?: (count: number) => number;
  readonly pause?: () => void;
  readonly resume?: () => void;
}

/**
 * Asks the person at the terminal. The answer is a word drawn for this question: input typed ahead, pasted or piped
 * cannot give it. Everything shown comes from the operation; control characters are made visible. One at a time.
 */
export function createTtyApprover(options: TtyApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(question, signal) {
      const answer = last.then(() => askOne(question, signal, options));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

async function askOne(question: ApprovalQuestion, signal: AbortSignal, options: TtyApproverOptions): Promise<ApprovalAnswer> {
  const { terminal, input } = options;
  const word = words[(options.pick ?? ((count) => randomInt(count)))(words.length)] ?? "amber";
  options.pause?.();
  terminal.err(renderQuestion(question, word, terminal));
  drain(input);
  const reader = createInterface({ input, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  const expiry = AbortSignal.timeout(Math.max(0, Math.min(question.expiresAtMs - options.now(), 0x7fff_ffff)));
  try {
    const typed = await reader.question("> ", { signal: AbortSignal.any([signal, expiry]) });
    return typed.trim().toLowerCase() === word ? { kind: "approved", by: options.user } : { kind: "denied", by: options.user };
  } catch (fault) {
    if (signal.aborted) throw fault;
    return { kind: "denied", by: options.user, reason: expiry.aborted ? "no answer in time" : "the input of the terminal ended" };
  } finally {
    reader.close();
    options.resume?.();
  }
}

/** Throws away what was typed before the question was there. */
function drain(input: NodeJS.ReadStream): void {
  input.resume();
  while (input.read() !== null);
}

/** The text of a program under review, its lines numbered. */
export function programText(summary: ApprovalQuestion["argsSummary"]): string {
  const program = typeof summary === "object" && summary !== null && "program" in summary ? summary.program : undefined;
  const lines = typeof program === "string" ? program.split(/\r\n|\n|\r/) : [];
  return lines.map((line, index) => `    ${String(index + 1).padStart(3)}  ${visible(line)}`).join("\n");
}

/** The question as a person reads it, from the operation alone. */
function renderQuestion(question: ApprovalQuestion, word: string, terminal: Pick<Terminal, "colors">): string {
  const { colors } = terminal;
  const effect = question.effect === "destructive" ? colors.red("destroys data") : "changes data";
  const args = visible(JSON.stringify(question.argsSummary, undefined, 2))
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return [
    "",
    colors.bold(question.isReview === true ? "? A program asks to run. A rule says that a person has to look at it first." : `? ${question.tool} asks to run. It ${effect}.`),
    `  why asked  ${visible(question.reason)} (rule ${question.ruleId})`,
    question.isReview === true ? "  program" : "  arguments",
    question.isReview === true ? programText(question.argsSummary) : args,
    `  Type ${colors.bold(word)} to allow this one ${question.isReview === true ? "run; calls that ask will ask as always" : "call"}. Anything else denies it.`,
    "",
  ].join("\n");
}

import { createInterface } from "node:readline/promises";
import type { UserQuestion } from "@callgate/agent";
import type { JsonValue } from "@callgate/contract";
import { passOnInterrupts } from "./ask-yes-no.ts";
import { visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Asks the person at this terminal what a model wants to know. It answers no approval: those have a form of their own. */
export function terminalAsker({ colors, err }: Pick<Terminal, "colors" | "err">): (question: UserQuestion, signal: AbortSignal) => Promise<JsonValue> {
  return async ({ question, schema }, signal) => {
    err(`${colors.bold("The model asks:")} ${visible(question)}\n`);
    if (schema !== undefined) err(colors.dim(`As JSON of this schema, or a text: ${visible(JSON.stringify(schema))}\n`));
    const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
    passOnInterrupts(reader);
    try {
      const answer = await reader.question(`${colors.bold("answer")} `, { signal });
      return schema === undefined ? answer : valueOf(answer);
    } finally {
      reader.close();
    }
  };
}

function valueOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

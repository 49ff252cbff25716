import { createInterface } from "node:readline/promises";
import type { Terminal } from "./terminal.ts";

/** Asks a question whose default is no. */
export async function askYesNo(question: string, terminal: Pick<Terminal, "colors">): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  try {
    const answer = await reader.question(`${terminal.colors.bold("?")} ${question} Type yes to agree: `);
    return answer.trim().toLowerCase() === "yes";
  } finally {
    reader.close();
  }
}

import { createInterface } from "node:readline/promises";
import { passOnInterrupts } from "./ask-yes-no.ts";
import type { Terminal } from "./terminal.ts";

/** Writes a text to standard error a screen at a time, so that its beginning does not scroll away unread. */
export async function pageOut(text: string, terminal: Pick<Terminal, "err" | "colors">, signal: AbortSignal): Promise<void> {
  const rows = process.stdin.isTTY && process.stderr.isTTY ? Math.max(10, process.stderr.rows || 24) - 2 : Number.POSITIVE_INFINITY;
  const lines = text.split("\n");
  for (let from = 0; from < lines.length; from += rows) {
    terminal.err(`${lines.slice(from, from + rows).join("\n")}\n`);
    if (from + rows < lines.length) await waitForEnter(`${lines.length - from - rows} more lines; Enter goes on`, terminal, signal);
  }
}

async function waitForEnter(prompt: string, { colors }: Pick<Terminal, "colors">, signal: AbortSignal): Promise<void> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  try {
    await reader.question(colors.dim(`-- ${prompt} --`), { signal });
  } finally {
    reader.close();
  }
}

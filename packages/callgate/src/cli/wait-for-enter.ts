import { createInterface } from "node:readline/promises";
import { passOnInterrupts } from "./ask-yes-no.ts";
import type { Terminal } from "./terminal.ts";

/** Waits for a line of the person at the terminal; false for `q` and where the input ends. Throws the reason of `signal`. */
export async function waitForEnter(hint: string, { colors }: Pick<Terminal, "colors">, signal: AbortSignal): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  try {
    return (await reader.question(colors.dim(`${hint} `), { signal })).trim().toLowerCase() !== "q";
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    reader.close();
  }
}

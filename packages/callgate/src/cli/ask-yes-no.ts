import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import type { Terminal } from "./terminal.ts";

/**
 * Reading a line takes Ctrl-C from the terminal before it is a signal; it means the same here as anywhere else.
 *
 * Why this way: the handlers of the process decide what an interruption is, also that a second one ends it at once.
 */
export function passOnInterrupts(reader: Interface): void {
  reader.on("SIGINT", () => void process.kill(process.pid, "SIGINT"));
}

/** Asks a question whose default is no: also where the input ends. Throws the reason of `signal`. */
export async function askYesNo(question: string, terminal: Pick<Terminal, "colors">, signal: AbortSignal): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  try {
    const answer = await reader.question(`${terminal.colors.bold("?")} ${question} Type yes to agree: `, { signal });
    return answer.trim().toLowerCase() === "yes";
  } catch {
    process.stderr.write("\n");
    signal.throwIfAborted();
    return false;
  } finally {
    reader.close();
  }
}

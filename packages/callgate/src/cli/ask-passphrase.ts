import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CallgateError } from "@callgate/contract";
import { passOnInterrupts } from "./ask-yes-no.ts";
import type { Terminal } from "./terminal.ts";

export interface PassphraseAsking {
  readonly terminal: Pick<Terminal, "err">;
  readonly signal: AbortSignal;
  readonly input?: NodeJS.ReadStream;
}

/**
 * Reads a passphrase. At a terminal nothing of it is shown; where standard input is none, it is its first line, so that a
 * password manager can give it. Never taken from an argument or the environment: whoever shares a shell would read it.
 */
export async function askPassphrase(question: string, { terminal, signal, input = process.stdin }: PassphraseAsking): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (input.isTTY) terminal.err(`${question}: `);
  const reader = createInterface({ input, output: silent, terminal: input.isTTY });
  passOnInterrupts(reader);
  try {
    const line = await Promise.race([reader.question("", { signal }), ended(reader)]);
    if (line === undefined) throw new CallgateError("USAGE", "No passphrase was given: standard input has ended");
    return line;
  } finally {
    reader.close();
    if (input.isTTY) terminal.err("\n");
  }
}

function ended(reader: ReturnType<typeof createInterface>): Promise<undefined> {
  return new Promise((resolve) => reader.once("close", () => resolve(undefined)));
}

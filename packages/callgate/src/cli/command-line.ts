import { InvalidArgumentError } from "commander";
import type { CommandContext } from "./command-context.ts";
import type { ExitCode } from "./exit-codes.ts";

/** What a command of the command line does. */
export type Action = (context: CommandContext) => Promise<ExitCode>;

/** Has it done, with the options that go before the command. */
export type Act = (action: Action) => Promise<void>;

/** Errors: InvalidArgumentError. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError("expected a whole number");
  return number;
}

/** From 0 to 1. Errors: InvalidArgumentError. */
export function share(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0 && number <= 1)) throw new InvalidArgumentError("expected a number from 0 to 1");
  return number;
}

/** Gathers a repeatable option. A variadic one would swallow the argument that follows. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

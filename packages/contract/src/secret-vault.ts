import type { WireValue } from "./value-codec.ts";

/**
 * Secrets that programs can pass and not read. A program writes `secret://NAME` as the whole of a text among the arguments;
 * the tool gets the value. Everybody else (policy, people, records, the program) sees the name.
 */
export interface SecretVault {
  /** Names of the secrets a tool may be given. @param tool qualified name */
  namesFor(tool: string): readonly string[];
  /** Why these arguments may not be given to the tool, in words for who wrote the call; undefined when they may. */
  refusal(args: unknown, tool: string): string | undefined;
  /** The arguments with the values of the secrets they name and the tool may be given; the same object where they name none. */
  reveal(args: unknown, tool: string): unknown;
  /** A tool's answer with the names in the place of the values, in every form the redactor knows. Undefined: that cannot be done. */
  conceal(answer: WireValue): WireValue | undefined;
}

import { CallgateError } from "@callgate/contract";
import type { GuestLanguage } from "./guest-language.ts";

/** How programs of a language without a guest of ours are run. */
export interface CommandTemplate {
  /**
   * The command, found on the PATH of the sandbox. `{file}` in an argument is replaced by the path of the program; where
   * none has it, the path is added: `["ruby"]`, `["go", "run", "{file}"]`, `["sh", "-c", "cc -o /tmp/a {file} && /tmp/a"]`.
   */
  readonly command: readonly string[];
  /** Ending of the program's file, without the dot. Default: the name of the language. */
  readonly extension?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** How a language may be called. */
export const languageName = /^[a-z][a-z0-9+#._-]{0,39}$/;

const ownLanguages = ["typescript", "javascript", "node", "python", "shell"];

/**
 * A language by command: each program is a run of its own, like one of the shell. It calls no tools; its exit code is the
 * end of the run.
 *
 * @param name lower case, as blocks and `-l` name it
 *
 * Errors: `CallgateError` CONFIG_INVALID.
 */
export function commandLanguage(name: string, { command, extension = name, environment = {} }: CommandTemplate): GuestLanguage {
  const wrong = (what: string): CallgateError => new CallgateError("CONFIG_INVALID", `The language ${JSON.stringify(name)} cannot be registered: ${what}`);
  if (!languageName.test(name)) throw wrong("its name must be of lower case letters, digits and + # . _ -, and begin with a letter");
  if (ownLanguages.includes(name)) throw wrong("it is one of Callgate's own");
  if (command.length === 0 || command.some((part) => part === "" || part.includes("\0"))) throw wrong('its command must be a list of texts, such as ["ruby"]');
  if (!/^[A-Za-z0-9_+-]{1,20}$/.test(extension)) throw wrong("its extension must be of letters and digits, without a dot");
  return { language: name, kind: "plain", command, environment, extension };
}

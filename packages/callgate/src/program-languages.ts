import type { ProgramLanguage } from "@callgate/contract";
import { namesOf } from "@callgate/runtime/executor";
import { commandLanguage } from "@callgate/sandbox-process";
import type { GuestLanguage } from "@callgate/sandbox-process";
import type { SandboxConfig } from "./config/config-schema.ts";

/** Languages that are always there; where one is, which sandbox runs it is the configuration's. */
export const ownLanguages: readonly ProgramLanguage[] = ["typescript", "javascript", "node", "python", "shell"];

/** The languages a configuration registers by command. Errors: `CallgateError` CONFIG_INVALID. */
export function registeredLanguages({ languages = {} }: Pick<SandboxConfig, "languages">): readonly GuestLanguage[] {
  return Object.entries(languages).map(([name, { extension = usualExtension(name), ...template }]) => commandLanguage(name, { extension, ...template }));
}

/** The shortest of the names that a language goes by: `rb`, `pl`, `jl`. */
function usualExtension(name: string): string {
  return namesOf(name).toSorted((a, b) => a.length - b.length)[0] ?? name;
}

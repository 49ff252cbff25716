import type { GlobalOptions } from "./command-context.ts";

/** The options of every command as words of a command line, for a process that goes on with them. */
export function globalArguments({ config, trust, profile, user, tenant, role = [] }: GlobalOptions): readonly string[] {
  return [
    ...(config === undefined ? [] : ["--config", config]),
    ...(trust === true ? ["--trust"] : []),
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(user === undefined ? [] : ["--user", user]),
    ...(tenant === undefined ? [] : ["--tenant", tenant]),
    ...role.flatMap((one) => ["--role", one]),
  ];
}

import { clientFiles } from "./client-files.ts";
import type { ClientFile, ClientHost, ClientId } from "./client-files.ts";

/** How the gate is started. */
export interface GateCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables of the environment that its configuration refers to. */
  readonly variables: readonly string[];
}

/** The file that a client's entry belongs into. Undefined where the client has none of that scope. */
export function connectedFile(client: ClientId, scope: ClientFile["scope"], host: ClientHost): ClientFile | undefined {
  return clientFiles(host).find((file) => file.client === client && file.scope === scope && file.isWritten);
}

/** The gate as a client writes a server. Variables are passed on by reference in the client's own way; where it has none, not at all. */
export function clientEntry(client: ClientId, { command, args, variables }: GateCommand): Readonly<Record<string, unknown>> {
  const server = { command, args: [...args] };
  const env = (write: (name: string) => string): { readonly env?: Readonly<Record<string, string>> } => (variables.length === 0 ? {} : { env: Object.fromEntries(variables.map((name) => [name, write(name)])) });
  switch (client) {
    case "claude-desktop":
      return server;
    case "claude-code":
      return { type: "stdio", ...server, ...env((name) => `\${${name}:-}`) };
    case "vscode":
      return { type: "stdio", ...server, ...env((name) => `\${env:${name}}`) };
    case "cursor":
    case "windsurf":
      return { ...server, ...env((name) => `\${env:${name}}`) };
    case "codex":
      return { ...server, ...(variables.length === 0 ? {} : { env_vars: [...variables] }) };
    case "gemini":
      return { ...server, ...env((name) => `$${name}`) };
  }
}

/** Whether a client hands a server variables of its environment where its file says so. */
export function passesVariables(client: ClientId): boolean {
  return client !== "claude-desktop";
}

/** Names of the variables that a text refers to, in the form of our configuration. Those with a default need not be set. */
export function variablesIn(config: unknown): readonly string[] {
  const names = new Set<string>();
  const open = [config];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      const alone = /^env:([A-Za-z_]\w*)$/.exec(next)?.[1];
      if (alone !== undefined) names.add(alone);
      for (const [, name = ""] of next.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)) names.add(name);
    } else if (typeof next === "object" && next !== null) open.push(...Object.values(next).filter((value) => value !== undefined));
  }
  return [...names].sort();
}

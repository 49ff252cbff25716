import type { Command } from "commander";
import type { Act } from "./command-line.ts";

/** `sources`: what stands behind the gate. */
export function addSourceCommands(program: Command, act: Act): void {
  const sources = program.command("sources").description("what stands behind the gate: tool files, MCP servers and other services");
  sources.command("ls", { isDefault: true }).description("list them with how each stands, its tools and what is wrong").action(() => act(async (context) => (await import("./commands/sources.ts")).listSourcesCommand(context)));
}

import type { Command } from "commander";
import { collect, wholeNumber } from "./command-line.ts";
import type { Act } from "./command-line.ts";

/** `sources`: what stands behind the gate. */
export function addSourceCommands(program: Command, act: Act): void {
  const sources = program.command("sources").description("what stands behind the gate: tool files, MCP servers and other services");
  sources.command("ls", { isDefault: true }).option("--connect", "connect those too whose tools are known from their pins").description("list them with how each stands, its tools and what is wrong").action((options: object) => act(async (context) => (await import("./commands/sources.ts")).listSourcesCommand(options, context)));
  addPinCommands(program, act);
  addAuthCommands(program, act);
}

/** `pins`: what sources were let be. */
function addPinCommands(program: Command, act: Act): void {
  const load = () => import("./commands/pins.ts");
  const pins = program.command("pins").description("the tools that a source was let have: at its first use it is pinned, and what is new or has changed since is held until approved");
  pins.command("ls", { isDefault: true }).description("list pinned sources: exit code 1 where something is held").action(() => act(async (context) => (await load()).listPinsCommand(context)));
  pins.command("show").argument("<source>", "its namespace").description("its tools, pinned and held").action((source: string) => act(async (context) => (await load()).showPinsCommand(source, context)));
  pins.command("diff").argument("<source>", "its namespace").argument("[tool...]", "only these").description("what is held, line by line: exit code 1 where something is").action((source: string, tools: string[]) => act(async (context) => (await load()).diffPinsCommand(source, tools, context)));
  pins
    .command("approve")
    .argument("<source>", "its namespace")
    .argument("[tool...]", "only these; default: all that is held")
    .option("--trust-effects", "believe what it says of its tools: which only read")
    .option("--no-trust-effects", "no longer believe it")
    .description("let it have what is held")
    .action((source: string, tools: string[], options: { readonly trustEffects?: boolean }) => act(async (context) => (await load()).approvePinsCommand(source, tools, { trustEffects: options.trustEffects, context })));
}

/** `auth`: who is signed in at servers that want it. */
function addAuthCommands(program: Command, act: Act): void {
  const load = () => import("./commands/auth.ts");
  const auth = program.command("auth").description("sign in at MCP servers that are reached at a URL and want it");
  auth.command("ls", { isDefault: true }).description("list who is signed in where: exit code 4 where a sign-in has ended").action(() => act(async (context) => (await load()).listSignInsCommand(context)));
  auth
    .command("login")
    .argument("<source>", "its namespace")
    .option("--no-browser", "only print the page to sign in at")
    .option("--callback-port <port>", "of this machine, where the browser is sent back to (default: any that is free)", wholeNumber)
    .option("--scope <scope>", "ask for this; may be repeated (default: what the server asks for)", collect)
    .description("sign in; the token is kept encrypted, and renewed by itself")
    .action((source: string, options: object) => act(async (context) => (await load()).loginCommand(source, options, context)));
  auth.command("logout").argument("<source>", "its namespace").description("forget the sign-in, and tell the authorization server where it can be told").action((source: string) => act(async (context) => (await load()).logoutCommand(source, context)));
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { CallgateError } from "@callgate/contract";
import { identifierOf } from "@callgate/runtime/catalog";
import { clientIds } from "../../clients/client-files.ts";
import type { ClientHost, ClientId } from "../../clients/client-files.ts";
import { clientsOf, findClientServers } from "../../clients/find-client-servers.ts";
import type { FoundServers } from "../../clients/find-client-servers.ts";
import { configText } from "../../config/config-text.ts";
import { editJsonc, replaceFile } from "../../config/edit-config.ts";
import { checkConfigText, findConfigFile } from "../../config/load-config.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { visible } from "../terminal.ts";
import { variableLines } from "../variable-lines.ts";

const tools = `import { defineTool, ToolError } from "callgate";
import { z } from "zod";

const notes = [{ id: 1, text: "Programs import tools; every call passes one gate" }];

export const add = defineTool({
  description: "Keep a note",
  effect: "write",
  input: z.object({ text: z.string().min(1) }),
  output: z.object({ id: z.number() }),
  handler({ text }) {
    const id = notes.length + 1;
    notes.push({ id, text });
    return { id };
  },
});

export const get = defineTool({
  description: "Read a note by its id",
  effect: "read",
  input: z.object({ id: z.number().int() }),
  output: z.object({ id: z.number(), text: z.string() }),
  errors: [{ code: "NOTE_NOT_FOUND", description: "There is no note with that id" }],
  handler({ id }) {
    const note = notes.find((candidate) => candidate.id === id);
    if (note === undefined) throw new ToolError({ code: "NOTE_NOT_FOUND", message: \`No note \${id}\`, notApplied: true });
    return note;
  },
});
`;

/**
 * `callgate init`: writes what is not there yet, never over anything; into a configuration that is there, what `import` names
 * and it has not. MCP servers that other clients have are in the
 * configuration it writes. The folder is trusted when all that would be loaded of it was written just now, and of nothing
 * but what is this user's; what somebody else put there (a clone, an unpacked archive) is for a person to look at first.
 *
 * @param options `import`: these clients, or false for none. Default: all
 */
export function initCommand(options: { readonly import?: readonly string[] | boolean }, context: CommandContext): Promise<ExitCode> {
  return initOn({ platform: process.platform, home: homedir(), env: process.env, folder: process.cwd() }, options, context);
}

/** The same on any host. */
export function initOn(host: ClientHost, options: { readonly import?: readonly string[] | boolean }, context: CommandContext): Promise<ExitCode> {
  const { folder } = host;
  const { trust } = context;
  const clients = clientsAsked(options.import);
  const existing = findConfigFile(folder);
  const hasConfig = existing !== undefined && dirname(existing) === folder;
  const hasTools = existsSync(join(folder, "tools"));
  const isAsked = Array.isArray(clients);
  const all = (hasConfig && !isAsked) || clients === "none" ? nothing : findClientServers(host, clients);
  const { found, there } = hasConfig && isAsked ? addMissing(existing, all) : { found: all, there: [] };
  const config = (): string => configText(found.servers.map(({ name, server, from }) => ({ name, server, comment: `from ${clientsOf(from)}` })));
  const written = [...(hasConfig ? [] : [write(join(folder, "callgate.jsonc"), config())]), ...(hasTools ? [] : [write(join(folder, "tools", "notes.ts"), tools)])];
  const foreign = found.servers.flatMap(({ from }) => (from.every(({ scope }) => scope === "project") ? from.map(({ file }) => relative(folder, file)) : []));
  if (!hasConfig && !hasTools && foreign.length === 0) trust.add(folder);
  const before = [...(hasConfig ? ["a configuration"] : []), ...(hasTools ? ["tools"] : []), ...new Set(foreign)];
  const changed = hasConfig && found.servers.length > 0 ? [relative(folder, existing)] : [];
  report({ folder, written: written.map((file) => relative(folder, file)), changed, there, trusted: trust.has(folder), found, before, hasNotes: !hasTools }, context);
  return Promise.resolve(exitCodes.ok);
}

/**
 * Writes into a configuration the servers that it has not; what it has under a name stays, whatever that is.
 *
 * Errors: USAGE for one that is code, CONFIG_INVALID before anything is written.
 */
function addMissing(file: string, all: FoundServers): { readonly found: FoundServers; readonly there: readonly string[] } {
  if (!/\.jsonc?$/.test(file)) throw new CallgateError("USAGE", `${file} is code, into which nothing can be imported; init in an empty folder shows what would be written`);
  const before = readFileSync(file, "utf8");
  const names = Object.keys(checkConfigText(before, file).mcpServers ?? {}).map((name) => identifierOf(name, "namespace"));
  const isThere = ({ name }: { readonly name: string }): boolean => names.includes(identifierOf(name, "namespace"));
  const missing = all.servers.filter((server) => !isThere(server));
  const after = missing.reduce((text, { name, server }) => editJsonc(text, ["mcpServers", name], server), before);
  checkConfigText(after, file);
  if (after !== before) replaceFile(file, after);
  const isUsed = ({ name }: { readonly name: string }): boolean => missing.some(({ server }) => new RegExp(String.raw`(?:env:|\$\{)${name}\b`).test(JSON.stringify(server)));
  return { found: { ...all, servers: missing, variables: all.variables.filter(isUsed) }, there: all.servers.filter(isThere).map(({ name }) => name) };
}

const nothing: FoundServers = { servers: [], variables: [], notes: [] };

/** Errors: USAGE. */
function clientsAsked(asked: readonly string[] | boolean | undefined): readonly ClientId[] | "none" | undefined {
  if (asked === false) return "none";
  if (asked === undefined || asked === true) return undefined;
  const unknown = asked.find((name) => !(clientIds as readonly string[]).includes(name));
  if (unknown !== undefined) throw new CallgateError("USAGE", `--import ${unknown}: there is no such client; there are: ${clientIds.join(", ")}`);
  return asked as readonly ClientId[];
}

interface Done {
  readonly folder: string;
  readonly written: readonly string[];
  /** The configuration, where servers were added to one. */
  readonly changed: readonly string[];
  /** Servers that it had already. */
  readonly there: readonly string[];
  readonly trusted: boolean;
  readonly found: FoundServers;
  /** What was in the folder before, so that it is not trusted. */
  readonly before: readonly string[];
  readonly hasNotes: boolean;
}

function report({ folder, written, changed, there, trusted, found, before, hasNotes }: Done, { terminal, options }: CommandContext): void {
  const imported = found.servers.map(({ name, from }) => ({ name, from: from.map(({ file }) => file) }));
  if (options.json === true) {
    terminal.out(`${JSON.stringify({ folder, written, changed, there, trusted, imported, variables: found.variables, notes: found.notes })}\n`);
    return;
  }
  for (const name of written) terminal.out(`wrote ${name}\n`);
  for (const name of changed) terminal.out(`added to ${name}\n`);
  if (there.length > 0) terminal.out(`there already: ${visible(there.join(", "))}\n`);
  if (written.length + changed.length + there.length === 0) terminal.out("everything is there already; nothing was written\n");
  for (const { name, server, from } of found.servers) terminal.out(`imported ${visible(name)} from ${clientsOf(from)}${server.disabled === true ? " (disabled)" : ""}\n`);
  for (const note of found.notes) terminal.err(`${terminal.colors.yellow("note")} ${visible(note)}\n`);
  terminal.err(variableLines(found.variables, terminal.colors));
  const first = trusted ? "This folder is trusted. Next:" : `This folder held ${before.join(" and ")} before, so it is not trusted yet and nothing of it is loaded. Look at it, then:\n  callgate trust`;
  terminal.err(`${first}\n  callgate search\n${hasNotes ? "  callgate exec -e 'return await tools.notes.get({ id: 1 })'\n" : ""}  callgate connect      (writes callgate into your MCP client's configuration)\n`);
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: "wx" });
  return file;
}

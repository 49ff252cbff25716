import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CallgateError } from "@callgate/contract";
import { textDiff } from "@callgate/runtime";
import { clientEntry, connectedFile, passesVariables, variablesIn } from "../../clients/client-entry.ts";
import type { GateCommand } from "../../clients/client-entry.ts";
import { clientFiles, clientIds, clientNames } from "../../clients/client-files.ts";
import type { ClientFile, ClientHost, ClientId } from "../../clients/client-files.ts";
import { editClientFile, othersIn, secretsIn } from "../../clients/edit-client-file.ts";
import { readClientFile } from "../../clients/read-client-file.ts";
import { replaceFile } from "../../config/edit-config.ts";
import { checkConfigText, findConfigFile } from "../../config/load-config.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";

interface ConnectOptions {
  readonly project?: boolean;
  readonly name?: string;
  readonly print?: boolean;
  readonly remove?: boolean;
  readonly yes?: boolean;
}

/** `callgate connect [CLIENT]`: shows what changes, asks, and keeps the file as it was beside it. */
export async function connectCommand(asked: string | undefined, options: ConnectOptions, context: CommandContext): Promise<ExitCode> {
  return await connectOn({ platform: process.platform, home: homedir(), env: process.env, folder: process.cwd() }, { asked, ...options }, context);
}

/** The same on any host. */
export async function connectOn(host: ClientHost, { asked, ...options }: ConnectOptions & { readonly asked: string | undefined }, context: CommandContext): Promise<ExitCode> {
  if (asked === undefined && options.print !== true) return listClients(host, context);
  const { name = "callgate" } = options;
  const client = clientIds.find((known) => known === asked);
  const { terminal } = context;
  if (options.print === true) {
    const { type: _type, env: _env, ...plain } = clientEntry("claude-code", gateCommand(false, context));
    terminal.out(`${client === undefined ? JSON.stringify({ mcpServers: { [name]: plain } }, undefined, 2) : printed(client, name, context).trimEnd()}\n`);
    return exitCodes.ok;
  }
  if (client === undefined) throw new CallgateError("USAGE", `"${asked ?? ""}" is no client whose file is known; there are: ${clientIds.join(", ")}. For another one, --print shows what belongs into its file`);
  const file = connectedFile(client, options.project === true ? "project" : "user", host);
  if (file === undefined) throw new CallgateError("USAGE", `${clientNames[client]} reads no file beside a project; leave --project out`);
  const before = existsSync(file.file) ? readFileSync(file.file, "utf8") : "";
  const command = options.remove === true ? undefined : gateCommand(options.project === true, context);
  const entry = command === undefined ? undefined : clientEntry(client, command);
  const after = editClientFile(before, file, { name, entry });
  if (after === before) return told({ file, written: false }, options.remove === true ? `"${name}" is not in ${file.file}; nothing was changed` : `${clientNames[client]} is connected already; nothing was changed`, context);
  terminal.err(`${file.file}\n${shownDiff({ before, after, secrets: secretsIn(before, file).filter((secret) => !JSON.stringify(entry ?? {}).includes(JSON.stringify(secret))) }, context)}`);
  if (options.yes !== true && !(await agreed(context))) return exitCodes.failed;
  const backup = writeBeside(file.file, after, before);
  if (command !== undefined) tellAfterwards({ client, file, after, name, command }, context);
  return told({ file, written: true, backup }, `${command === undefined ? "disconnected" : "connected"} ${clientNames[client]}; start it anew${backup === undefined ? "" : `. Its file as it was: ${backup}`}`, context);
}

interface Done {
  readonly file: ClientFile;
  readonly written: boolean;
  readonly backup?: string | undefined;
}

function told({ file, written, backup }: Done, text: string, { options, terminal }: CommandContext): ExitCode {
  if (options.json === true) terminal.out(`${JSON.stringify({ client: file.client, file: file.file, written, backup: backup ?? null })}\n`);
  else terminal.out(`${text}\n`);
  return exitCodes.ok;
}

function listClients(host: ClientHost, { terminal, options }: CommandContext): ExitCode {
  const rows = clientFiles(host).filter(({ isWritten }) => isWritten).map((file) => {
    const content = readClientFile(file);
    const servers = Object.entries(content?.servers ?? {});
    const gate = servers.filter(([, { args = [] }]) => args.includes("mcp") && args.some((word) => /callgate/.test(word))).map(([name]) => name);
    return { client: file.client, scope: file.scope, file: file.file, isThere: existsSync(file.file), connected: gate.length > 0, broken: content?.isBroken === true ? (content.problems[0] ?? "") : null, otherServers: servers.map(([name]) => name).filter((name) => !gate.includes(name)) };
  });
  if (options.json === true) terminal.out(`${JSON.stringify(rows)}\n`);
  else {
    const shown = rows.filter(({ isThere, scope }) => isThere || scope === "user").map(({ client, scope, connected, broken, isThere, otherServers, file }) => [client, scope, broken !== null ? "broken" : connected ? "connected" : isThere ? "not connected" : "no file", broken !== null ? "?" : String(otherServers.length), file]);
    terminal.out(renderTable(["client", "of", "", "other servers", "file"], shown, { columns: terminal.outColumns, colors: terminal.outColors }));
    for (const { broken } of rows) if (broken !== null) terminal.err(`${terminal.colors.yellow("note")} ${visible(broken)}\n`);
    terminal.err("callgate connect CLIENT writes callgate into one\n");
  }
  return exitCodes.ok;
}

function printed(client: ClientId, name: string, context: CommandContext): string {
  const format = client === "codex" ? "toml" : "jsonc";
  const path = client === "codex" ? ["mcp_servers"] : client === "vscode" ? ["servers"] : ["mcpServers"];
  return editClientFile("", { client, file: "", scope: "user", format, path, isWritten: true }, { name, entry: clientEntry(client, gateCommand(false, context)) });
}

/** Errors: USAGE where there is no configuration. */
function gateCommand(isShared: boolean, { options }: CommandContext): GateCommand {
  const found = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
  if (found === undefined) throw new CallgateError("USAGE", "There is no configuration here that a client could be connected to; callgate init writes one");
  const variables = /\.jsonc?$/.test(found) && existsSync(found) ? variablesIn(checkConfigText(readFileSync(found, "utf8"), found)) : [];
  const profile = options.profile === undefined ? [] : ["--profile", options.profile];
  const bin = fileURLToPath(new URL("../../../bin/callgate.mjs", import.meta.url));
  // Others have no such paths, and what npx has fetched it may throw away.
  if (isShared || /[\\/]_npx[\\/]/.test(bin)) return { command: "npx", args: ["-y", "callgate", ...profile, "mcp", ...(isShared ? [] : ["--config", found])], variables };
  return { command: process.execPath, args: [bin, ...profile, "mcp", "--config", found], variables };
}

/** Lines that change, without what other entries keep secret in them. */
function shownDiff({ before, after, secrets }: { readonly before: string; readonly after: string; readonly secrets: readonly string[] }, { terminal: { colors } }: CommandContext): string {
  const lines = (textDiff(before, after)?.text ?? after).split("\n").filter((line) => /^[+-]/.test(line));
  const hidden = lines.map((line) => secrets.reduce((text, secret) => text.replaceAll(secret, "…"), line));
  return `${hidden.map((line) => (line.startsWith("+") ? colors.green(visible(line)) : colors.red(visible(line)))).join("\n")}\n`;
}

/** Errors: USAGE where nobody can be asked. */
async function agreed({ terminal, signal }: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CallgateError("USAGE", "Nobody can be asked here, so nothing was written; --yes agrees beforehand, --print only shows the entry");
  if (await askYesNo("Write this?", terminal, signal)) return true;
  terminal.err("nothing was written\n");
  return false;
}

/** @returns where the file is kept as it was */
function writeBeside(file: string, after: string, before: string): string | undefined {
  mkdirSync(dirname(file), { recursive: true });
  const backup = before === "" ? undefined : `${file}.${new Date().toISOString().replace(/[-:]/g, "").slice(0, 15)}.bak`;
  if (backup !== undefined) {
    copyFileSync(file, backup);
    // It may hold secrets, and nobody looks after it.
    chmodSync(backup, 0o600);
  }
  replaceFile(file, after);
  return backup;
}

interface Connected {
  readonly client: ClientId;
  readonly file: ClientFile;
  readonly after: string;
  readonly name: string;
  readonly command: GateCommand;
}

/** What a person still has to do. */
function tellAfterwards({ client, file, after, name, command: { variables } }: Connected, { terminal, trust, options }: CommandContext): void {
  const note = (text: string): void => terminal.err(`${terminal.colors.yellow("note")} ${visible(text)}\n`);
  if (variables.length > 0 && !passesVariables(client)) note(`${clientNames[client]} gives a server none of your variables, and the configuration refers to ${variables.join(", ")}: write file:PATH in place of env:NAME there`);
  else if (variables.length > 0) note(`${clientNames[client]} must be started where ${variables.join(", ")} ${variables.length === 1 ? "is" : "are"} set: an application started from a desktop may not have what your shell sets`);
  const others = othersIn(after, file, name);
  if (others.length > 0) note(`${clientNames[client]} still has servers of its own, which no gate stands before: ${others.join(", ")}. Once they are in callgate.jsonc (callgate init, callgate add), take them out of ${file.file}`);
  const config = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
  if (config !== undefined && !trust.has(dirname(config))) note(`${dirname(config)} is not trusted yet, so the client will get nothing of it: callgate trust ${dirname(config)}`);
}

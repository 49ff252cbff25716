import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { systemClock } from "@callgate/runtime";
import { identifierOf } from "@callgate/runtime/catalog";
import { blockOf } from "../../add/added-entry.ts";
import type { AddedEntry, SourceBlock, SourceKind } from "../../add/added-entry.ts";
import { candidatesOf } from "../../add/candidates.ts";
import { probeSource } from "../../add/probe-source.ts";
import type { Probe } from "../../add/probe-source.ts";
import { sourceNameOf } from "../../add/source-name.ts";
import { createVariableNames } from "../../clients/needed-variables.ts";
import type { VariableNames } from "../../clients/needed-variables.ts";
import { configText } from "../../config/config-text.ts";
import { editJsonc, replaceFile } from "../../config/edit-config.ts";
import { checkConfigText, findConfigFile } from "../../config/load-config.ts";
import { askYesNo } from "../ask-yes-no.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { counted, visible } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";
import { variableLines } from "../variable-lines.ts";

interface AddOptions {
  readonly name?: string;
  readonly kind?: SourceKind;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly auth?: string;
  readonly trusted?: boolean;
  readonly readOnly?: boolean;
  /** What is downloaded to be run is agreed to beforehand. */
  readonly yes?: boolean;
  /** Whether the words stood after `--`: they are a command then, and no name of anything. */
  readonly isCommand?: boolean;
  /** False: it is not started or reached. */
  readonly check?: boolean;
}

/** A configuration that can be written to, or that prints what a person writes. */
interface ConfigPlace {
  readonly file: string;
  readonly folder: string;
  /** Undefined where it is code. */
  readonly text: string | undefined;
  readonly isNew: boolean;
}

/** An entry and what it said. `not_asked`: by `--no-check`. */
interface Chosen {
  readonly entry: AddedEntry;
  readonly probe: Probe | { readonly kind: "not_asked" };
}

const blocks = ["mcpServers", "openapi", "graphql", "sql"] as const satisfies readonly SourceBlock[];
const probeMs = 90_000;

/** `callgate add WHAT…`: asks only what was named, and writes nothing where that fails. */
export async function addCommand(words: readonly string[], options: AddOptions, context: CommandContext): Promise<ExitCode> {
  const place = configPlace(context);
  const names = createVariableNames(process.env);
  const name = options.name ?? sourceNameOf(words[0] === "npx" || words[0] === "uvx" ? (words.slice(1).find((word) => !word.startsWith("-")) ?? "") : withoutPrefix(words[0] ?? ""));
  identifierOf(name, "namespace");
  const chosen = await choose(words, { options, name, place, names }, context);
  if (chosen === undefined) return exitCodes.failed;
  const { entry, probe } = chosen;
  const { terminal } = context;
  const before = place.text === undefined ? undefined : checkConfigText(place.text, place.file)[entry.block]?.[name];
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(entry.value)) throw new CallgateError("USAGE", `${place.file} has another "${name}" in ${entry.block} already; give this one another name with --name, or take that one out with callgate remove ${name}`);
  if (place.text !== undefined && before === undefined) write(place, [entry.block, name], entry.value);
  if (place.isNew && !existsSync(join(place.folder, "tools"))) context.trust.add(place.folder);
  const needed = names.list();
  if (context.options.json === true) {
    terminal.out(`${JSON.stringify({ name, block: entry.block, entry: entry.value, file: place.text === undefined ? null : place.file, written: place.text !== undefined && before === undefined, found: probe, variables: needed })}\n`);
    return exitCodes.ok;
  }
  const shown = relative(process.cwd(), place.file) || place.file;
  if (place.text === undefined) terminal.out(`${shown} is code; write this into it:\n${JSON.stringify({ [entry.block]: { [name]: entry.value } }, undefined, 2)}\n`);
  else terminal.out(before === undefined ? `added "${name}" to ${entry.block} of ${shown}\n` : `"${name}" is in ${shown} already; nothing was changed\n`);
  tell(name, chosen, terminal);
  terminal.err(variableLines(needed, terminal.colors));
  if (place.text !== undefined && !context.trust.has(place.folder)) terminal.err(`${place.folder} is not trusted yet, so nothing of it is loaded: look at it, then callgate trust\n`);
  return exitCodes.ok;
}

/** `callgate remove SOURCE` */
export function removeCommand(name: string, context: CommandContext): Promise<ExitCode> {
  const place = configPlace(context);
  if (place.isNew) throw new CallgateError("USAGE", "There is no configuration here; callgate init writes one");
  if (place.text === undefined) throw new CallgateError("USAGE", `${place.file} is code; take "${name}" out by hand`);
  const config = checkConfigText(place.text, place.file);
  const block = blocks.find((candidate) => Object.hasOwn(config[candidate] ?? {}, name));
  if (block === undefined) {
    const there = blocks.flatMap((candidate) => Object.keys(config[candidate] ?? {}));
    throw new CallgateError("USAGE", `${place.file} has no source "${name}"; it has: ${there.join(", ") || "none"}`);
  }
  write(place, [block, name], undefined);
  if (context.options.json === true) context.terminal.out(`${JSON.stringify({ name, block, file: place.file })}\n`);
  else context.terminal.out(`took "${name}" out of ${block} of ${relative(process.cwd(), place.file) || place.file}\n`);
  return Promise.resolve(exitCodes.ok);
}

function withoutPrefix(word: string): string {
  return word.replace(/^(?:npm|pypi|env):/, "");
}

function configPlace({ options }: CommandContext): ConfigPlace {
  const found = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
  if (found === undefined || (!existsSync(found) && /\.jsonc?$/.test(found))) {
    const file = found ?? join(process.cwd(), "callgate.jsonc");
    return { file, folder: dirname(file), text: configText([]), isNew: true };
  }
  return { file: found, folder: dirname(found), text: /\.jsonc?$/.test(found) ? readFileSync(found, "utf8") : undefined, isNew: false };
}

/** Errors: CONFIG_INVALID, before anything is written. */
function write({ file, text = "" }: ConfigPlace, path: readonly string[], value: unknown): void {
  const edited = editJsonc(text, path, value);
  checkConfigText(edited, file);
  replaceFile(file, edited);
}

interface Choice {
  readonly options: AddOptions;
  readonly name: string;
  readonly place: ConfigPlace;
  readonly names: VariableNames;
}

/** The first thing it may be that answers as such. Undefined where none does, which has been told then. */
async function choose(words: readonly string[], { options, name, place, names }: Choice, context: CommandContext): Promise<Chosen | undefined> {
  const { env = [], header = [], kind, auth } = options;
  if (auth !== undefined && !/^(?:env|file):/.test(auth)) throw new CallgateError("USAGE", "--auth takes a reference: env:NAME or file:PATH. A secret does not belong into the configuration");
  const named = { words, name, env: envOf(env, names), headers: headersOf(header), trusted: options.trusted === true, readOnly: options.readOnly === true, isCommand: options.isCommand === true, ...(auth === undefined ? {} : { auth }) };
  const all = candidatesOf(named, { cwd: process.cwd(), folder: place.folder, env: process.env, names });
  const candidates = kind === undefined ? all : all.filter(({ block }) => block === blockOf[kind]);
  const [first] = candidates;
  if (first === undefined) throw new CallgateError("USAGE", `"${name}" cannot be --kind ${kind ?? ""}`);
  if (options.check === false) {
    if (candidates.length > 1) throw new CallgateError("USAGE", "With --no-check nobody finds out what this URL is; say it with --kind mcp, openapi or graphql");
    return { entry: first, probe: { kind: "not_asked" } };
  }
  if (options.yes !== true && !(await agreedToDownload(words, first, context))) return undefined;
  const failures: string[] = [];
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(probeMs)]);
  for (const entry of candidates) {
    const probe = await probeSource(entry, name, { folder: place.folder, env: { ...process.env, ...names.values() }, clock: systemClock(), signal });
    if (probe.kind !== "failed") return { entry, probe };
    failures.push(`${blockWords[entry.block]}: ${Object.values(names.values()).reduce((text, value) => (value.length < 4 ? text : text.replaceAll(value, "[secret]")), probe.reason)}`);
  }
  if (context.options.json === true) context.terminal.out(`${JSON.stringify({ status: "failed", error: { code: "SOURCE_FAILED", message: failures.join("\n"), retryable: true } })}\n`);
  else context.terminal.err(`${visible(shownEntry(first))} did not answer, so nothing was written (--no-check writes it all the same):\n${failures.map((line) => `  ${line.replaceAll("\n", "\n  ")}\n`).join("")}`);
  return undefined;
}

/** As it would be written: with references in place of what is secret. */
function shownEntry({ value }: AddedEntry): string {
  if ("command" in value) return [value.command, ...(value.args ?? [])].join(" ");
  return Object.values(value).find((part) => typeof part === "string") ?? "";
}

/**
 * A package by its name is code of somebody else, and a name is easily mistyped.
 *
 * Errors: USAGE where nobody can be asked.
 */
async function agreedToDownload(words: readonly string[], entry: AddedEntry, { terminal, signal }: CommandContext): Promise<boolean> {
  const { command = "", args: [flag = "", next = ""] = [] } = entry.block === "mcpServers" ? entry.value : {};
  if ((command !== "npx" && command !== "uvx") || words[0] === command) return true;
  const what = `${visible(shownEntry(entry))} downloads the package "${visible(command === "npx" ? next : flag)}" from ${command === "npx" ? "npm" : "PyPI"} and runs it on this machine`;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CallgateError("USAGE", `${what}. Nobody can be asked here, so nothing was run or written; --yes agrees beforehand, --no-check writes it without running it`);
  terminal.err(`${what}.\n`);
  if (await askYesNo("Do that?", terminal, signal)) return true;
  terminal.err("nothing was run or written\n");
  return false;
}

/** Errors: USAGE. */
function envOf(given: readonly string[], names: VariableNames): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, , value] = /^([A-Za-z_]\w*)(=(.*))?$/s.exec(text) ?? [];
      if (name === undefined) throw new CallgateError("USAGE", `--env takes NAME or NAME=value, not "${text.split("=")[0] ?? ""}"`);
      if (value === undefined) names.refer(name, "as you wrote");
      return [name, value ?? `\${${name}}`];
    }),
  );
}

/** Errors: USAGE. */
function headersOf(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([A-Za-z0-9-]+):\s*(.+)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new CallgateError("USAGE", "--header takes 'Name: value'");
      return [name, value];
    }),
  );
}

const blockWords: Readonly<Record<SourceBlock, string>> = { mcpServers: "MCP server", openapi: "OpenAPI document", graphql: "GraphQL service", sql: "database" };

function tell(name: string, { entry, probe }: Chosen, terminal: Terminal): void {
  const what = blockWords[entry.block];
  switch (probe.kind) {
    case "not_asked":
      terminal.err(`${what}, not tried; see with callgate sources ls --connect\n`);
      return;
    case "failed":
      return;
    case "sign_in":
      terminal.err(`${what} that wants you to sign in first: callgate auth login ${name}\n`);
      return;
    case "found": {
      const { read, write: writes, destructive } = probe.effects;
      const effects = [...(read > 0 ? [`${read} read`] : []), ...(writes > 0 ? [`${writes} write`] : []), ...(destructive > 0 ? [`${destructive} destroy`] : [])].join(", ");
      const trust = entry.block === "mcpServers" ? `; callgate pins approve ${name} --trust-effects, once it was used, or "trusted": true` : '; "trusted": true in the configuration';
      terminal.err(`${what}${probe.purpose === undefined ? "" : ` (${visible(probe.purpose)})`}: ${counted(probe.tools.length, "tool")}${effects === "" ? "" : `: ${effects}`}\n`);
      if (probe.claimed && read > 0) terminal.err(terminal.colors.dim(`That is its own word; until you believe it, all of them count as writes${trust}\n`));
      for (const problem of probe.problems.slice(0, 10)) terminal.err(`${terminal.colors.yellow("note")} ${visible(problem)}\n`);
    }
  }
}

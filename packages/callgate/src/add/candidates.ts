import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from "node:fs";
import { delimiter, extname, isAbsolute, join, relative, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { VariableNames } from "../clients/needed-variables.ts";
import { secretInShellText, withoutSecrets, withoutSecretsInUrl } from "../clients/without-secrets.ts";
import type { WrittenServer } from "../clients/written-server.ts";
import type { AddedEntry } from "./added-entry.ts";

/** What was named on the command line, and what goes with it. */
export interface NamedSource {
  readonly words: readonly string[];
  /** The name it gets. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** A reference to what a service is told of who calls. */
  readonly auth?: string;
  readonly trusted: boolean;
  readonly readOnly: boolean;
  /** Whether the words are a command, whatever else they may look like. */
  readonly isCommand?: boolean;
}

export interface NamingHost {
  /** Where the words were written: paths start there. */
  readonly cwd: string;
  /** Of the configuration: paths in it start there. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly names: VariableNames;
}

/**
 * What the named thing may be, likeliest first. Files are looked at; nothing is started or reached, and no value that may be
 * a secret is in what is given: the names of variables stand for them.
 *
 * Errors: `CallgateError` USAGE for what can be none of it.
 */
export function candidatesOf(named: NamedSource, host: NamingHost): readonly AddedEntry[] {
  const { words: [first = "", ...rest] } = named;
  if (named.isCommand === true) return [ofGivenCommand(first, rest, { named, host })];
  if (rest.length === 0) {
    const alone = first.startsWith("env:") ? ofReference(first, named, host) : ofAddress(first, named, host);
    if (alone !== undefined) return alone;
  }
  const file = resolve(host.cwd, first);
  if (!existsSync(file) && /^\.{1,2}[\\/]|^[\\/~]|\.(?:db|sqlite3?|json|ya?ml|[cm]?[jt]s|py)$/.test(first)) throw new CallgateError("USAGE", `There is no file ${first}`);
  if (existsSync(file) && (/[\\/]/.test(first) || statSync(file).isFile())) return ofFile(file, rest, { named, host });
  const prefixed = /^(npm|pypi):(.+)$/.exec(first);
  if (prefixed !== null) return [prefixed[1] === "npm" ? ofCommand("npx", ["-y", prefixed[2] ?? "", ...rest], { named, host }) : ofCommand("uvx", [prefixed[2] ?? "", ...rest], { named, host })];
  if (/^@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?$/.test(first)) return [ofCommand("npx", ["-y", first, ...rest], { named, host })];
  if (isOnPath(first, host.env)) return [ofCommand(first, rest, { named, host })];
  if (/^[a-z0-9][\w.-]*(?:@[\w.^~-]+)?$/i.test(first)) return [ofCommand("npx", ["-y", first, ...rest], { named, host })];
  throw new CallgateError("USAGE", `"${first}" is no file here, no command on the PATH, no URL, and no name of a package: nothing can be added of it`);
}

/** Errors: USAGE where there is no such command. */
function ofGivenCommand(command: string, args: readonly string[], naming: Naming): AddedEntry {
  if (isOnPath(command, naming.host.env)) return ofCommand(command, args, naming);
  const file = resolve(naming.host.cwd, command);
  if (/[\\/]/.test(command) && existsSync(file)) {
    const [entry] = ofFile(file, args, naming);
    if (entry?.block === "mcpServers") return entry;
    throw new CallgateError("USAGE", `${command} is no command; leave the -- out for a file`);
  }
  const packages = /^[@a-z0-9][\w./@~^-]*$/i.test(command) ? `. If you mean the package of npm: callgate add npm:${command}` : "";
  throw new CallgateError("USAGE", `There is no command "${command}" ${/[\\/]/.test(command) ? "at that path" : "on the PATH"}, so nothing was run or written${packages}`);
}

interface Naming {
  readonly named: NamedSource;
  readonly host: NamingHost;
}

function keeping({ name }: NamedSource, { names }: NamingHost): Parameters<typeof withoutSecrets>[1] {
  return { owner: name, where: "what you wrote just now", names };
}

function ofCommand(command: string, args: readonly string[], { named, host }: Naming): AddedEntry {
  const shown = secretInShellText({ command, args });
  if (shown !== undefined) throw new CallgateError("USAGE", `${shown} in the text for a shell may be a secret, and such text cannot be rewritten safely, so nothing was written; give the value with --env NAME=value and use $NAME in the text`);
  const server: WrittenServer = { command, ...(args.length === 0 ? {} : { args }), ...(Object.keys(named.env).length === 0 ? {} : { env: named.env }) };
  return { block: "mcpServers", value: { ...withoutSecrets(server, keeping(named, host)), ...(named.trusted ? { trusted: true } : {}) } };
}

/** `env:NAME`: the value is looked at for what it is, and not written. */
function ofReference(reference: string, named: NamedSource, { env, names }: NamingHost): readonly AddedEntry[] {
  const name = reference.slice(4);
  const value = env[name];
  if (value === undefined) throw new CallgateError("USAGE", `The environment variable ${name} is not set here, so that nobody can tell what it leads to; set it and say this again`);
  names.refer(name, "the address, as you wrote");
  if (isDatabase(value)) return [ofDatabase(reference, named)];
  if (/^https?:\/\//.test(value)) return [ofServer(reference, named)];
  throw new CallgateError("USAGE", `The environment variable ${name} holds neither the URL of a database nor one that begins with http:// or https://`);
}

function ofAddress(text: string, named: NamedSource, host: NamingHost): readonly AddedEntry[] | undefined {
  const sqlite = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (sqlite !== undefined) return [ofSqlite(resolve(host.cwd, sqlite), named, host)];
  if (isDatabase(text)) return [ofDatabase(`env:${host.names.nameFor({ preferred: "DATABASE_URL", owner: named.name, value: text, why: `the address of the database "${named.name}", with its password` })}`, named)];
  if (!/^https?:\/\//i.test(text)) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) throw new CallgateError("USAGE", `Nothing is known that speaks ${text.split(":")[0]}://; there are postgres://, mysql://, sqlite:, http:// and https://`);
    return undefined;
  }
  if (!URL.canParse(text)) throw new CallgateError("USAGE", "This begins like a URL and is none; write it as https://host/path");
  const { value } = ofServer(withoutSecretsInUrl(text, keeping(named, host)), named, host);
  const server: AddedEntry = { block: "mcpServers", value };
  // A document or endpoint cannot be named by a reference: with a key in it there is one thing left that it can be.
  if (value.url !== text) return [server];
  return inOrder(text, { server, ...servicesAt(text, named) });
}

function servicesAt(url: string, { auth, trusted }: NamedSource): { readonly document: AddedEntry; readonly endpoint: AddedEntry } {
  const more = { ...(auth === undefined ? {} : { auth }), ...(trusted ? { trusted: true as const } : {}) };
  return { document: { block: "openapi", value: { document: url, ...more } }, endpoint: { block: "graphql", value: { endpoint: url, ...more } } };
}

/** By what addresses of the kind look like; what it is, is found out by asking. */
function inOrder(url: string, { server, document, endpoint }: { readonly server: AddedEntry; readonly document: AddedEntry; readonly endpoint: AddedEntry }): readonly AddedEntry[] {
  if (/\/(?:mcp|sse)\b/i.test(url)) return [server, document, endpoint];
  if (/graphql|\/gql\b/i.test(url)) return [endpoint, document, server];
  return [document, server, endpoint];
}

function ofServer(url: string, named: NamedSource, host?: NamingHost): { readonly block: "mcpServers"; readonly value: WrittenServer & { readonly trusted?: true } } {
  const bare: WrittenServer = { url, ...(Object.keys(named.headers).length === 0 ? {} : { headers: named.headers }) };
  return { block: "mcpServers", value: { ...(host === undefined ? bare : withoutSecrets(bare, keeping(named, host))), ...(named.trusted ? { trusted: true } : {}) } };
}

function isDatabase(text: string): boolean {
  return /^(?:postgres|postgresql|mysql|mariadb):\/\//.test(text);
}

function ofDatabase(url: string, { readOnly }: NamedSource): AddedEntry {
  return { block: "sql", value: { url, ...(readOnly ? { readOnly: true } : {}) } };
}

function ofSqlite(file: string, { readOnly }: NamedSource, host: NamingHost): AddedEntry {
  return { block: "sql", value: { file: written(file, host), ...(readOnly ? { readOnly: true } : {}) } };
}

/** As the configuration writes it: from its folder where it is below that. */
function written(file: string, { folder }: NamingHost): string {
  const path = relative(folder, file);
  return path.startsWith("..") || isAbsolute(path) ? file : `./${path.replaceAll("\\", "/")}`;
}

function ofFile(file: string, args: readonly string[], { named, host }: Naming): readonly AddedEntry[] {
  if (statSync(file).isDirectory()) throw new CallgateError("USAGE", `${file} is a folder; name a file: an OpenAPI document, a SQLite database or a server`);
  if (isSqliteFile(file)) return [ofSqlite(file, named, host)];
  const extension = extname(file).toLowerCase();
  if ([".json", ".yaml", ".yml"].includes(extension)) return [{ block: "openapi", value: { document: written(file, host), ...(named.auth === undefined ? {} : { auth: named.auth }) } }];
  if ([".js", ".mjs", ".cjs", ".ts", ".mts"].includes(extension)) return [ofCommand("node", [written(file, host), ...args], { named, host })];
  if (extension === ".py") return [ofCommand("python3", [written(file, host), ...args], { named, host })];
  if (isExecutable(file)) return [ofCommand(written(file, host), args, { named, host })];
  throw new CallgateError("USAGE", `${file} is neither an OpenAPI document (.json, .yaml), nor a SQLite database, nor a server that can be started`);
}

function isSqliteFile(file: string): boolean {
  const head = Buffer.alloc(16);
  const opened = openSync(file, "r");
  try {
    readSync(opened, head, 0, 16, 0);
  } finally {
    closeSync(opened);
  }
  return head.toString("latin1") === "SQLite format 3\u0000";
}

function isOnPath(command: string, env: NamingHost["env"]): boolean {
  const endings = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
  return !/[\\/]/.test(command) && (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && endings.some((ending) => isExecutable(join(folder, `${command}${ending}`))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

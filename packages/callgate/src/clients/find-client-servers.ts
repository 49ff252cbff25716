import { identifierOf } from "@callgate/runtime/catalog";
import { parseEnv } from "node:util";
import { existsSync, readFileSync } from "node:fs";
import { clientFiles, clientNames, pathsOf } from "./client-files.ts";
import type { ClientFile, ClientHost, ClientId } from "./client-files.ts";
import { createVariableNames } from "./needed-variables.ts";
import type { NeededVariable, VariableNames } from "./needed-variables.ts";
import { readClientFile } from "./read-client-file.ts";
import type { ClientFileContent, ForeignServer } from "./read-client-file.ts";
import { translatePlaceholders } from "./translate-placeholders.ts";
import { secretInShellText, withoutSecrets } from "./without-secrets.ts";
import type { WrittenServer } from "./written-server.ts";

/** A server of another client as it is written into `mcpServers`. */
export interface FoundServer {
  /** Its key there. */
  readonly name: string;
  readonly server: WrittenServer;
  /** The files it was found in. */
  readonly from: readonly ClientFile[];
}

export interface FoundServers {
  readonly servers: readonly FoundServer[];
  /** What has to be set for them to work. */
  readonly variables: readonly NeededVariable[];
  /** What was left out or has to be looked at. */
  readonly notes: readonly string[];
}

/**
 * Finds the MCP servers of the clients of this user and of the project, and writes them as ours. Reads files only: nothing
 * is started or reached. No value that may be a secret is in what it gives.
 *
 * One that several clients have is found once; a name that means another server in another client gets that client's name.
 *
 * @param clients only these. Default: all
 */
export function findClientServers(host: ClientHost, clients?: readonly ClientId[]): FoundServers {
  const names = createVariableNames(host.env);
  const notes: string[] = [];
  const files = clientFiles(host).filter(({ client }) => clients?.includes(client) ?? true);
  const contents = files.flatMap((file) => readClientFile(file) ?? []);
  for (const { problems } of contents) notes.push(...problems);
  // References first: their names cannot be chosen, those of values can.
  const translated = contents.flatMap((content) => Object.entries(content.servers).flatMap(([name, raw]) => translate(name, raw, { content, host, names, notes })));
  const merged = merge(translated);
  const servers = merged.map(({ name, server, from }) => ({ name, from, server: withoutSecrets(server, { owner: name, where: from[0]?.file ?? "", names }) }));
  return { servers, variables: names.list(), notes };
}

/** Longer ones are no namespace. */
const maxNameChars = 64;

interface Place {
  readonly content: ClientFileContent;
  readonly host: ClientHost;
  readonly names: VariableNames;
  readonly notes: string[];
}

function translate(name: string, raw: ForeignServer, { content: { from, inputs }, host, names, notes }: Place): readonly FoundServer[] {
  if (isCallgate(raw, host)) return [];
  const where = from.file;
  const untold = new Set<string>();
  // Paths of a server start at the folder of the configuration, unless it has a folder of its own.
  const project = raw.cwd === undefined || raw.cwd === "${workspaceFolder}" ? "." : host.folder;
  const text = (value: string): string => translatePlaceholders(value, { host, inputs, names, owner: name, where, project, isBareRead: from.client === "gemini", untold: (placeholder) => untold.add(placeholder) });
  const texts = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, text(value)]));
  if (name === "" || name.length > maxNameChars) {
    notes.push(`${where}: a server's name must have 1 to ${maxNameChars} characters; "${name.slice(0, 20)}" was left out`);
    return [];
  }
  const url = raw.url ?? raw.serverUrl ?? raw.httpUrl;
  if ((raw.command === undefined) === (url === undefined)) {
    notes.push(`${where}: the server "${name}" has ${url === undefined ? "neither a command nor a URL" : "both a command and a URL"}; it was left out`);
    return [];
  }
  const shown = secretInShellText(raw);
  if (shown !== undefined) {
    notes.push(`${where}: the server "${name}" is started by text for a shell, and ${shown} in it may be a secret; it was left out, since such text cannot be rewritten safely: move the value into its env there and run init again, or write the server into callgate.jsonc yourself`);
    return [];
  }
  const headers = headersOf(raw, names, { owner: name, where });
  const env = envOf(raw, { names, notes, owner: name, from, host });
  const type = raw.type ?? raw.transport ?? (raw.httpUrl === undefined ? undefined : "http");
  const allow = raw.includeTools ?? raw.enabled_tools;
  const deny = raw.excludeTools ?? raw.disabled_tools;
  const server: WrittenServer = {
    ...(raw.command === undefined ? {} : { command: text(raw.command), args: (raw.args ?? []).map(text) }),
    ...(Object.keys(env).length === 0 ? {} : { env: texts(env) }),
    ...(raw.cwd === undefined ? {} : { cwd: text(raw.cwd) }),
    ...(url === undefined ? {} : { ...(type === undefined ? {} : { type }), url: text(url) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: texts(headers) }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(raw.disabled === true || raw.enabled === false || untold.size > 0 ? { disabled: true as const } : {}),
  };
  if (untold.size > 0) notes.push(`${where}: the server "${name}" has ${[...untold].join(" and ")}, which means nothing here; it is there as "disabled": write what belongs there and take that away`);
  return [{ name, server, from: [from] }];
}

/** The gate itself, as `callgate connect` writes it: behind itself it would stand for ever. */
function isCallgate({ command = "", args = [] }: ForeignServer, host: ClientHost): boolean {
  const words = [command, ...args].map((word) => pathsOf(host).basename(word.replaceAll("\\", "/")).replace(/(?:\.(?:cmd|exe|mjs|js))+$/, "").replace(/@[\w.^~-]+$/, ""));
  return words.includes("callgate") && args.includes("mcp");
}

/** Also those whose values Codex takes from its environment. */
function headersOf(raw: ForeignServer, names: VariableNames, { owner, where }: { readonly owner: string; readonly where: string }): Readonly<Record<string, string>> {
  const bearer = raw.bearer_token_env_var;
  const named = Object.entries(raw.env_http_headers ?? {});
  for (const name of [...(bearer === undefined ? [] : [bearer]), ...named.map(([, variable]) => variable)]) names.refer(name, `used by "${owner}" in ${where}`);
  return {
    ...raw.headers,
    ...raw.http_headers,
    ...Object.fromEntries(named.map(([header, variable]) => [header, `\${${variable}}`])),
    ...(bearer === undefined ? {} : { Authorization: `Bearer \${${bearer}}` }),
  };
}

/** With the variables of a file that the client reads: their names, never their values. */
function envOf(raw: ForeignServer, { names, notes, owner, from, host }: Omit<Place, "content"> & { readonly owner: string; readonly from: ClientFile }): Readonly<Record<string, string>> {
  const passed = raw.env_vars ?? [];
  const own = { ...Object.fromEntries(passed.map((name) => [name, `\${${name}}`])), ...raw.env };
  if (raw.envFile === undefined) return own;
  const file = translatePlaceholders(raw.envFile, { host, inputs: {}, names, owner, where: from.file, project: host.folder, isBareRead: false, untold: () => undefined });
  if (!existsSync(file)) {
    notes.push(`${from.file}: the server "${owner}" reads ${raw.envFile}, which is not there: add to its env what it needs`);
    return own;
  }
  const listed = Object.keys(parseEnv(readFileSync(file, "utf8")));
  for (const name of listed) names.refer(name, `used by "${owner}": its value is in ${file}`);
  return { ...Object.fromEntries(listed.map((name) => [name, `\${${name}}`])), ...own };
}

/** One of each, under names that are different namespaces. */
function merge(all: readonly FoundServer[]): readonly FoundServer[] {
  const merged: FoundServer[] = [];
  for (const found of all) {
    const same = merged.findIndex(({ name, server }) => sameNamespace(name, found.name) && JSON.stringify(comparable(server)) === JSON.stringify(comparable(found.server)));
    const before = merged[same];
    if (before !== undefined) {
      merged[same] = { ...before, from: [...before.from, ...found.from] };
      continue;
    }
    const isTaken = (name: string): boolean => merged.some((other) => sameNamespace(other.name, name));
    const client = found.from[0]?.client ?? "";
    let name = isTaken(found.name) ? `${found.name}-${client}` : found.name;
    for (let count = 2; isTaken(name); count++) name = `${found.name}-${client}-${count}`;
    merged.push({ ...found, name });
  }
  return merged;
}

function sameNamespace(a: string, b: string): boolean {
  return identifierOf(a, "namespace") === identifierOf(b, "namespace");
}

/** Clients differ in whether they write down what is the default. */
function comparable({ type: _type, ...server }: WrittenServer): unknown {
  return { ...server, args: server.args ?? [], env: Object.entries(server.env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** `Claude Desktop, Cursor` */
export function clientsOf(from: readonly ClientFile[]): string {
  return [...new Set(from.map(({ client }) => clientNames[client]))].join(", ");
}

import { findSecrets } from "@callgate/runtime/text";
import type { VariableNames } from "./needed-variables.ts";
import { isKeyLike, isPlainArgument, isPlainValue, isSecretish } from "./plain-values.ts";
import type { WrittenServer } from "./written-server.ts";

export interface SecretKeeping {
  /** Name of the server: begins the names of variables that would else be too general. */
  readonly owner: string;
  /** Where the values are now, for the person who has to set the variables. */
  readonly where: string;
  readonly names: VariableNames;
}

/** Names of packages may be odder than other words. */
const minKeyCharsInName = 16;

/** Headers whose values say nothing of who sends them. */
const plainHeaders = /^(?:accept|accept-language|content-type|user-agent|mcp-protocol-version)$/i;

/**
 * The same server with a reference in place of everything that may be a secret: values of `env` and `headers`, and keys in
 * arguments and in the URL. What is evidently none (a small number, a path, a host, a word under a harmless name) stays.
 *
 * A text for a shell is not rewritten: see `secretInShellText`.
 */
export function withoutSecrets(server: WrittenServer, keeping: SecretKeeping): WrittenServer {
  const { command = "", args, env, url, headers } = server;
  const place = (words: readonly string[], index: number): Place => ({ before: words[index - 1] ?? "", isName: isNameAt(command, words, index), keeping });
  return {
    ...server,
    ...(args === undefined ? {} : { args: args.map((arg, index) => withoutSecretsInWord(arg, place(args, index))) }),
    ...(env === undefined ? {} : { env: mapValues(env, (value, name) => ofEnv(value, name, keeping)) }),
    ...(url === undefined ? {} : { url: withoutSecretsInUrl(url, keeping) }),
    ...(headers === undefined ? {} : { headers: mapValues(headers, (value, name) => ofHeader(value, name, keeping)) }),
  };
}

interface Place {
  /** The word before it: its value may be a flag's. */
  readonly before: string;
  /** Whether a package, module or variable is named here. */
  readonly isName: boolean;
  readonly keeping: SecretKeeping;
}

/** What npx, python and docker take behind a short flag: a package, a module, the name of a variable. */
function isNameAt(command: string, words: readonly string[], index: number): boolean {
  const program = (command.split(/[\\/]/).at(-1) ?? "").replace(/(?:\.(?:cmd|exe))+$/, "");
  const before = words[index - 1] ?? "";
  if (/^(?:npx|bunx|pnpx)$/.test(program)) return before === "-y";
  if (/^python[\d.]*$/.test(program)) return before === "-m";
  return /^(?:docker|podman)$/.test(program) && before === "-e" && /^[A-Z_][A-Z0-9_]*$/.test(words[index] ?? "");
}

/** Whether a text refers to something already. What is beside the reference is taken for words such as Bearer. */
function isReference(text: string): boolean {
  return /^(?:env|file):|\$\{(?:env:)?[A-Za-z_]\w*(?::-[^}]*)?\}/.test(text);
}

/** Whether what stands beside references, and what they are without, is evidently no key. */
function isPlainBeside(text: string): boolean {
  const defaults = [...text.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*):-([^}]*)\}/g)];
  const arePlain = defaults.every(([, name = "", otherwise = ""]) => !isKeyLike(otherwise) && (!isSecretish(name) || otherwise === "") && findSecrets(otherwise).length === 0);
  const beside = text.replace(/\$\{[^}]*\}/g, " ");
  return arePlain && !isKeyLike(beside) && findSecrets(beside).length === 0;
}

function mapValues(record: Readonly<Record<string, string>>, map: (value: string, name: string) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

function ofEnv(value: string, name: string, { owner, where, names }: SecretKeeping): string {
  if (/\$\{/.test(value) && isReference(value) && isPlainBeside(value)) return alone(value);
  // What begins with file: or env: would be read as a reference, which it is not.
  if (isPlainValue(name, value)) return value;
  return `env:${names.nameFor({ preferred: name, owner, value, why: `env ${name} of "${owner}" in ${where}` })}`;
}

/** `${NAME}` with nothing beside it is written `env:NAME`. */
function alone(value: string): string {
  return value.replace(/^\$\{(?:env:)?([A-Za-z_]\w*)\}$/, "env:$1");
}

function ofHeader(value: string, name: string, { owner, where, names }: SecretKeeping): string {
  if (isReference(value) && value.includes("${") && isPlainBeside(value)) return alone(value);
  if (plainHeaders.test(name) && !isKeyLike(value)) return value;
  const [, scheme = "", secret = value] = /^((?:Bearer|Basic|Token)\s+)(.*)$/is.exec(value) ?? [];
  const preferred = /^(?:proxy-)?authorization$/i.test(name) ? `${owner}_TOKEN` : `${owner}_${name}`;
  const reference = names.nameFor({ preferred, owner, value: secret, why: `header ${name} of "${owner}" in ${where}${scheme === "" ? "" : `, without ${scheme.trim()}`}` });
  return scheme === "" ? `env:${reference}` : `${scheme}\${${reference}}`;
}

/** One word of a command line. */
function withoutSecretsInWord(word: string, { before, isName, keeping }: Place): string {
  const { owner, where, names } = keeping;
  if (isReference(word) && word.includes("${") && isPlainBeside(word)) return word;
  const refer = (what: string, value: string): string => `\${${names.nameFor({ preferred: `${owner}_${what}`, owner, value, why: `argument ${what} of "${owner}" in ${where}` })}}`;
  const assigned = /^(-{0,2}([\w.-]+)=)(.+)$/s.exec(word);
  if (assigned !== null && (isSecretish(assigned[2] ?? "") || isOddValue(assigned, before))) return `${assigned[1]}${refer(flagName(assigned[2] ?? ""), assigned[3] ?? "")}`;
  const header = /^(\s*([A-Za-z][\w-]*):\s*(?:(?:Bearer|Basic|Token)\s+)?)(\S.*)$/s.exec(word);
  if (header !== null && !word.includes("://") && isSecretish(header[2] ?? "")) return `${header[1]}${refer(flagName(header[2] ?? ""), header[3] ?? "")}`;
  if (/^--?[A-Za-z][\w.-]*$/.test(before) && isSecretish(before) && !word.startsWith("-")) return refer(flagName(before), word);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return withoutSecretsInUrl(word, keeping);
  const known = findSecrets(word).reduce((text, { value }) => text.replaceAll(value, () => refer("KEY", value)), word);
  if (known !== word && isPlainBeside(known)) return known;
  const isFlagValue = /^-[A-Za-z]$/.test(before) && !isName && assigned === null && !/^-{1,2}[A-Za-z]/.test(word);
  if (isKeyLike(word, isName ? minKeyCharsInName : undefined) || holdsSecretName(word) || (isFlagValue && !isPlainArgument(word))) return refer(isFlagValue ? flagName(before) : "ARGUMENT", word);
  return word;
}

/** The value of `NAME=value`: of a variable (`docker run -e`) as of one in `env`, else a key. */
function isOddValue([, begin = "", name = "", value = ""]: readonly string[], before: string): boolean {
  const isVariable = !begin.startsWith("-") && /^(?:-e|--env)$/.test(before);
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) && (isVariable ? !isPlainValue(name, value) : isKeyLike(value));
}

/** `Server=x;Password=y`: an assignment to a name that is secret, not at the beginning. */
function holdsSecretName(word: string): boolean {
  return [...word.matchAll(/[\s;&,?"'{]([\w.-]+)"?\s*[=:]\s*[^\s;]/g)].some(([, name = ""]) => isSecretish(name));
}

const shells = /^(?:(?:ba|z|da|k|c|tc|fi)?sh|cmd|powershell|pwsh)$/i;

/**
 * What looks like a secret in text that a shell reads (`sh -c …`, a command with words in it), said without its value. Such a
 * text cannot be rewritten: where words end and what is quoted is the shell's to know, and half of a command is none.
 *
 * @returns undefined where there is none
 */
export function secretInShellText({ command = "", args = [] }: { readonly command?: string | undefined; readonly args?: readonly string[] | undefined }): string | undefined {
  const isShellAt = (word: string): boolean => shells.test((word.split(/[\\/]/).at(-1) ?? "").replace(/\.exe$/i, ""));
  const words = [command, ...args];
  const texts = words.filter((word, index) => /\s|=/.test(word) && (index === 0 || words.slice(0, index).some(isShellAt)));
  return texts.map(secretInText).find((found) => found !== undefined);
}

function secretInText(text: string): string | undefined {
  const unused: VariableNames = { nameFor: () => "X", refer: () => undefined, list: () => [], values: () => ({}) };
  const keeping: SecretKeeping = { owner: "", where: "", names: unused };
  // Any placeholder of any client refers to something; variables of the shell do too.
  const words = text.replace(/\$\{[^}]*\}|\$[A-Za-z_]\w*/g, "${X}").split(/[\s;&|()`]+/).map((word) => word.replace(/^["']+|["']+$/g, "")).filter((word) => word !== "");
  for (const [index, word] of words.entries()) {
    const before = words[index - 1] ?? "";
    const [, name, value = ""] = /^(\w+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value.replace(/^["']/, "") !== "${X}" && !isPlainValue(name, value)) return `${name}=…`;
    const kept = withoutSecretsInWord(word, { before, isName: isNameAt(words[0] ?? "", words, index), keeping });
    if (kept !== word || /^[\w-]+:$/.test(before) && isSecretish(before.slice(0, -1))) return before.startsWith("-") ? `${before} …` : "what looks like a key";
  }
  return undefined;
}

function flagName(flag: string): string {
  return flag.replace(/^-+/, "");
}

/** A URL whose user, keys in the path and values of the query are references. One with a password is a reference as a whole. */
export function withoutSecretsInUrl(url: string, { owner, where, names }: SecretKeeping): string {
  if (isReference(url) && isPlainBeside(url)) return url;
  if (!URL.canParse(url)) return isKeyLike(url) ? `\${${names.nameFor({ preferred: `${owner}_URL`, owner, value: url, why: `address of "${owner}" in ${where}` })}}` : url;
  const whole = (what: string, value: string): string => names.nameFor({ preferred: `${owner}_${what}`, owner, value, why: `${what === "URL" ? "address" : `${what} in the address`} of "${owner}" in ${where}` });
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") return `\${${whole("URL", url)}}`;
  // By the text, not by what URL makes of it: it is put together again as it was.
  const [address = "", ...query] = url.split("?");
  const path = address.split("/").map((segment, index) => (index > 2 && isKeyLike(segment) ? `\${${whole("KEY", segment)}}` : segment)).join("/");
  if (query.length === 0) return path;
  const pairs = query.join("?").split("&").map((pair) => {
    const [name = "", ...rest] = pair.split("=");
    const value = rest.join("=");
    return value === "" || isPlainValue(name, value) ? pair : `${name}=\${${whole(name, value)}}`;
  });
  return `${path}?${pairs.join("&")}`;
}

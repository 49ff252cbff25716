import { findSecrets } from "@callgate/runtime/text";
import type { VariableNames } from "./needed-variables.ts";
import { isKeyLike, isPlainValue, isSecretish } from "./plain-values.ts";
import type { WrittenServer } from "./written-server.ts";

export interface SecretKeeping {
  /** Name of the server: begins the names of variables that would else be too general. */
  readonly owner: string;
  /** Where the values are now, for the person who has to set the variables. */
  readonly where: string;
  readonly names: VariableNames;
}

/** Headers whose values say nothing of who sends them. */
const plainHeaders = /^(?:accept|accept-language|content-type|user-agent|mcp-protocol-version)$/i;

/**
 * The same server with a reference in place of everything that may be a secret: values of `env` and `headers`, and keys in
 * arguments and in the URL. What is evidently none (a number, a path, a host, a word under a harmless name) stays.
 */
export function withoutSecrets(server: WrittenServer, keeping: SecretKeeping): WrittenServer {
  const { args, env, url, headers } = server;
  return {
    ...server,
    ...(args === undefined ? {} : { args: args.map((arg, index) => withoutSecretsInWord(arg, args[index - 1] ?? "", keeping)) }),
    ...(env === undefined ? {} : { env: mapValues(env, (value, name) => ofEnv(value, name, keeping)) }),
    ...(url === undefined ? {} : { url: withoutSecretsInUrl(url, keeping) }),
    ...(headers === undefined ? {} : { headers: mapValues(headers, (value, name) => ofHeader(value, name, keeping)) }),
  };
}

/** Whether a text refers to something already. What is beside the reference is taken for words such as Bearer. */
function isReference(text: string): boolean {
  return /^(?:env|file):|\$\{(?:env:)?[A-Za-z_]\w*(?::-[^}]*)?\}/.test(text);
}

function mapValues(record: Readonly<Record<string, string>>, map: (value: string, name: string) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

function ofEnv(value: string, name: string, { owner, where, names }: SecretKeeping): string {
  if (/\$\{/.test(value) && isReference(value)) return alone(value);
  // What begins with file: or env: would be read as a reference, which it is not.
  if (isPlainValue(name, value)) return value;
  return `env:${names.nameFor({ preferred: name, owner, value, why: `env ${name} of "${owner}" in ${where}` })}`;
}

/** `${NAME}` with nothing beside it is written `env:NAME`. */
function alone(value: string): string {
  return value.replace(/^\$\{(?:env:)?([A-Za-z_]\w*)\}$/, "env:$1");
}

function ofHeader(value: string, name: string, { owner, where, names }: SecretKeeping): string {
  if (isReference(value)) return alone(value);
  if (plainHeaders.test(name)) return value;
  const [, scheme = "", secret = value] = /^((?:Bearer|Basic|Token)\s+)(.*)$/is.exec(value) ?? [];
  const preferred = /^(?:proxy-)?authorization$/i.test(name) ? `${owner}_TOKEN` : `${owner}_${name}`;
  const reference = names.nameFor({ preferred, owner, value: secret, why: `header ${name} of "${owner}" in ${where}${scheme === "" ? "" : `, without ${scheme.trim()}`}` });
  return scheme === "" ? `env:${reference}` : `${scheme}\${${reference}}`;
}

/** One word of a command line. @param before the word before it: its value may be a flag's */
function withoutSecretsInWord(word: string, before: string, keeping: SecretKeeping): string {
  const { owner, where, names } = keeping;
  if (isReference(word) && word.includes("${")) return word;
  const refer = (what: string, value: string): string => `\${${names.nameFor({ preferred: `${owner}_${what}`, owner, value, why: `argument ${what} of "${owner}" in ${where}` })}}`;
  const assigned = /^(-{0,2}([\w.-]+)=)(.+)$/s.exec(word);
  if (assigned !== null && isSecretish(assigned[2] ?? "")) return `${assigned[1]}${refer(flagName(assigned[2] ?? ""), assigned[3] ?? "")}`;
  const header = /^(\s*([A-Za-z][\w-]*):\s*(?:(?:Bearer|Basic|Token)\s+)?)(\S.*)$/s.exec(word);
  if (header !== null && !word.includes("://") && isSecretish(header[2] ?? "")) return `${header[1]}${refer(flagName(header[2] ?? ""), header[3] ?? "")}`;
  if (/^--?[A-Za-z][\w.-]*$/.test(before) && isSecretish(before) && !word.startsWith("-")) return refer(flagName(before), word);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return withoutSecretsInUrl(word, keeping);
  return findSecrets(word).reduce((text, { value }) => text.replaceAll(value, () => refer("KEY", value)), word);
}

function flagName(flag: string): string {
  return flag.replace(/^-+/, "");
}

/** A URL whose user, keys in the path and values of the query are references. One with a password is a reference as a whole. */
export function withoutSecretsInUrl(url: string, { owner, where, names }: SecretKeeping): string {
  if (isReference(url) || !URL.canParse(url)) return url;
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

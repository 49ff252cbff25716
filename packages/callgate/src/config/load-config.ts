import { existsSync, readFileSync } from "node:fs";
import { dirname, join, parse as parsePath, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CallgateError } from "@callgate/contract";
import type { Interceptor, Source, Tool } from "@callgate/contract";
import { nearestNames } from "@callgate/runtime/catalog";
import { parse, printParseErrorCode, visit } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";
import type { z } from "zod";
import { loadFault } from "../load-fault.ts";
import { resolveOwnPackagesFor } from "../folder/own-packages.ts";
import { configSchema } from "./config-schema.ts";
import type { ConfigFile } from "./config-schema.ts";

/** What a TypeScript configuration can say beyond JSON. */
export interface CallgateConfig extends ConfigFile {
  /** Tools by namespace. */
  readonly tools?: Readonly<Record<string, readonly Tool[]>>;
  readonly sources?: readonly Source[];
  /** Stages of your own in the way of every call, in their order. */
  readonly interceptors?: readonly Interceptor[];
}

/** Gives types to a `callgate.config.ts`; returns its argument. */
export function defineConfig(config: CallgateConfig): CallgateConfig {
  return config;
}

/** A configuration and where it was found. */
export interface LoadedConfig {
  readonly config: CallgateConfig;
  /** Undefined when there is no file. */
  readonly file: string | undefined;
  /** Relative paths in the configuration start here. */
  readonly folder: string;
}

const configFileNames = ["callgate.config.ts", "callgate.config.mts", "callgate.config.js", "callgate.config.mjs", "callgate.jsonc", "callgate.json"] as const;

/** Finds the configuration in a folder or the nearest one above it. */
export function findConfigFile(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = configFileNames.map((name) => join(at, name)).find((file) => existsSync(file));
    if (found !== undefined || at === parsePath(at).root) return found;
  }
}

/**
 * Reads and checks one configuration file. A `.ts` or `.js` file is run: the caller answers for trust.
 *
 * Errors: `CallgateError` CONFIG_INVALID naming file, line or key, and the fix.
 */
export async function loadConfig(file: string): Promise<LoadedConfig> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CallgateError("CONFIG_INVALID", `There is no configuration file ${file}; create one with callgate init`);
  const config = /\.jsonc?$/.test(path) ? checkConfigText(readText(path), path) : await importConfig(path);
  return { config, file: path, folder: dirname(path) };
}

/**
 * Checks the text of a JSON configuration without loading anything of it.
 *
 * Errors: `CallgateError` CONFIG_INVALID, as `loadConfig`.
 */
export function checkConfigText(text: string, file: string): ConfigFile {
  return checkConfig(parseJsonc(text, file), file);
}

function parseJsonc(text: string, file: string): unknown {
  const errors: ParseError[] = [];
  refuseUnclearKeys(text, file);
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    throw new CallgateError("CONFIG_INVALID", `${placeIn(text, first.offset, file)}: not valid JSON with comments: ${words(printParseErrorCode(first.error))}`);
  }
  return value;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Deeper than any configuration is; the parser would call itself as deep. */
const maxConfigDepth = 100;

/**
 * Of a key that is there twice the last would count and the first be as if it were not: a rule that denies would be gone
 * without a word. `__proto__` would not be a key at all.
 */
function refuseUnclearKeys(text: string, file: string): void {
  const open: Set<string>[] = [];
  const refuse = (offset: number, why: string): never => {
    throw new CallgateError("CONFIG_INVALID", `${placeIn(text, offset, file)}: ${why}`);
  };
  const enter = (offset: number): void => {
    if (open.push(new Set()) > maxConfigDepth) refuse(offset, `nested deeper than ${maxConfigDepth}`);
  };
  const leave = (): void => void open.pop();
  visit(text, {
    onObjectBegin: enter,
    onArrayBegin: enter,
    onObjectEnd: leave,
    onArrayEnd: leave,
    onObjectProperty(key, offset) {
      if (key === "__proto__") refuse(offset, "no key can be called __proto__");
      if (open.at(-1)?.has(key) === true) refuse(offset, `the key "${key}" is there twice in one object; put both into one`);
      open.at(-1)?.add(key);
    },
  });
}

function placeIn(text: string, offset: number, file: string): string {
  const before = text.slice(0, offset).split("\n");
  return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** `CommaExpected` → `comma expected`. */
function words(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

async function importConfig(file: string): Promise<CallgateConfig> {
  resolveOwnPackagesFor(dirname(file));
  let exported: { readonly default?: unknown; readonly config?: unknown };
  try {
    exported = (await import(pathToFileURL(file).href)) as typeof exported;
  } catch (cause) {
    const { where, message } = await loadFault(file, cause);
    throw new CallgateError("CONFIG_INVALID", `${file}${where} cannot be loaded: ${message}`, { cause });
  }
  const value = exported.default ?? exported.config;
  if (typeof value !== "object" || value === null) {
    throw new CallgateError("CONFIG_INVALID", `${file} exports no configuration; write: export default defineConfig({ ... })`);
  }
  const { tools, sources, interceptors, ...rest } = value as CallgateConfig;
  return { ...checkConfig(rest, file), ...(tools === undefined ? {} : { tools }), ...(sources === undefined ? {} : { sources }), ...(interceptors === undefined ? {} : { interceptors }) };
}

/** Checks the JSON part of a configuration; `file` is how errors name it. */
function checkConfig(value: unknown, file: string): ConfigFile {
  const result = configSchema.safeParse(value);
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap((issue) => describeIssue(issue));
  throw new CallgateError("CONFIG_INVALID", `${file} is not a valid configuration:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

function describeIssue(issue: z.core.$ZodIssue): readonly string[] {
  const place = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return [`${place === "" ? "the top" : place}: ${issue.message}`];
  return issue.keys.map((key) => {
    const [near] = nearestNames(key, knownKeys(issue.path), 1);
    return `${place === "" ? key : `${place}.${key}`}: unknown key${near === undefined ? "" : `; did you mean "${near}"?`}`;
  });
}

/** The keys the schema knows at a place, for suggestions. */
function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = configSchema;
  for (const step of path) {
    const { shape, valueType, element } = unwrap(at) as { readonly shape?: Readonly<Record<string, unknown>>; readonly valueType?: unknown; readonly element?: unknown };
    at = shape?.[String(step)] ?? valueType ?? element;
    if (at === undefined) return [];
  }
  return Object.keys((unwrap(at) as { readonly shape?: object }).shape ?? {});
}

function unwrap(schema: unknown): unknown {
  let inner = schema as { unwrap?: () => unknown; readonly element?: unknown } | undefined;
  // The items of an array are a step of their own.
  while (typeof inner?.unwrap === "function" && inner.element === undefined) inner = inner.unwrap() as typeof inner;
  return inner;
}

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CallgateError } from "@callgate/contract";
import { resolveReferences } from "../config/secret-references.ts";

/** Where a model is opened for. */
export interface ModelHost {
  /** Where relative paths, and packages of providers, are looked for. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A provider's package, what of it makes a provider, and where its key is looked for. */
const providers = {
  openai: { package: "@ai-sdk/openai", make: "createOpenAI", key: "OPENAI_API_KEY" },
  anthropic: { package: "@ai-sdk/anthropic", make: "createAnthropic", key: "ANTHROPIC_API_KEY" },
  google: { package: "@ai-sdk/google", make: "createGoogleGenerativeAI", key: "GOOGLE_GENERATIVE_AI_API_KEY" },
  "openai-compatible": { package: "@ai-sdk/openai-compatible", make: "createOpenAICompatible", key: undefined },
} as const;

/** What of a configuration's block says whom to ask. */
export interface ProviderConfig {
  readonly provider: keyof typeof providers;
  readonly baseURL?: string | undefined;
  /** A reference. */
  readonly apiKey?: string | undefined;
}

/** A provider of the AI SDK: called with a name it gives a language model; others by its methods, where it has them. */
export type AiSdkProvider = ((model: string) => unknown) & { readonly [method: string]: unknown };

/**
 * Loads the package of a provider and makes one with its key and address, whose requests go through the guarded client.
 *
 * @param block of the configuration, for errors
 *
 * Errors: `CallgateError` CONFIG_INVALID naming the key and what to do; never a secret.
 */
export async function openProvider(config: ProviderConfig, block: string, host: ModelHost): Promise<AiSdkProvider> {
  const { provider, baseURL } = config;
  if (provider === "openai-compatible" && baseURL === undefined) throw new CallgateError("CONFIG_INVALID", `${block}.baseURL is missing: where the server is, e.g. http://localhost:11434/v1`);
  const { package: name, make, key } = providers[provider];
  const apiKey = keyOf(config, { variable: key, block }, host);
  const loaded = await loadPackage(name, host.folder);
  const maker = loaded[make];
  if (typeof maker !== "function") throw new CallgateError("CONFIG_INVALID", `The installed ${name} has no ${make}; install its newest version`);
  // A server that speaks OpenAI's format says what a stream used up only where it is asked to.
  const { modelFetch } = await import("./model-fetch.ts");
  return (maker as (options: object) => AiSdkProvider)({ fetch: modelFetch(baseURL), ...(apiKey === undefined ? {} : { apiKey }), ...(baseURL === undefined ? {} : { baseURL }), ...(provider === "openai-compatible" ? { name: "local", includeUsage: true } : {}) });
}

function keyOf({ apiKey, provider }: ProviderConfig, { variable, block }: { readonly variable: string | undefined; readonly block: string }, { env, folder }: ModelHost): string | undefined {
  if (apiKey !== undefined) return resolveReferences({ apiKey }, block, { env, folder }).values["apiKey"];
  if (variable === undefined) return undefined;
  const found = env[variable];
  if (found === undefined) throw new CallgateError("CONFIG_INVALID", `The key of ${provider} is missing: set the environment variable ${variable}, or ${block}.apiKey to a reference such as env:MY_KEY`);
  return found;
}

/** From beside the configuration first: it is the user's, and so is its version. */
async function loadPackage(name: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(createRequire(resolve(folder, "package.json")).resolve(name)).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw new CallgateError("CONFIG_INVALID", `${name} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  try {
    return (await import(name)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `${name} is not installed; run: npm i ${name}`, { cause });
  }
}

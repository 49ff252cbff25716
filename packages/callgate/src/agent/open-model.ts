import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { scriptedModel } from "@callgate/agent";
import type { AgentModel, ScriptedTurn } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type { AgentConfig } from "../config/agent-schema.ts";
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

/** What to write where no model is configured. */
const noModelText = `No model is configured. Add one to callgate.jsonc, for example

  "agent": { "provider": "anthropic", "model": "claude-sonnet-4-5", "apiKey": "env:ANTHROPIC_API_KEY" }

and install its package beside the configuration: npm i @ai-sdk/anthropic. A server on this machine needs no key:

  "agent": { "provider": "openai-compatible", "model": "qwen3", "baseURL": "http://localhost:11434/v1" }

with npm i @ai-sdk/openai-compatible. See docs/guide/agent.md.`;

/**
 * Opens the model that a configuration names.
 *
 * Errors: `CallgateError` CONFIG_INVALID naming the key and what to do; never a secret.
 */
export async function openModel(config: AgentConfig | undefined, host: ModelHost): Promise<AgentModel> {
  if (config === undefined) throw new CallgateError("CONFIG_INVALID", noModelText);
  if (config.provider === "scripted") return scriptedModel(readScript(config.script, host.folder));
  const { provider, model, baseURL, script } = config;
  if (script !== undefined) throw new CallgateError("CONFIG_INVALID", `agent.script belongs to the provider scripted, not to ${provider}`);
  if (model === undefined) throw new CallgateError("CONFIG_INVALID", `agent.model is missing: the name of a model, as ${provider} names it`);
  if (provider === "openai-compatible" && baseURL === undefined) throw new CallgateError("CONFIG_INVALID", "agent.baseURL is missing: where the server is, e.g. http://localhost:11434/v1");
  const { package: name, make, key } = providers[provider];
  const apiKey = keyOf(config, key, host);
  const loaded = await loadProvider(name, host.folder);
  const maker = loaded[make];
  if (typeof maker !== "function") throw new CallgateError("CONFIG_INVALID", `The installed ${name} has no ${make}; install its newest version`);
  const { modelFetch } = await import("./model-fetch.ts");
  const made = (maker as (options: object) => (model: string) => AgentModel)({ fetch: modelFetch(baseURL), ...(apiKey === undefined ? {} : { apiKey }), ...(baseURL === undefined ? {} : { baseURL }), ...(provider === "openai-compatible" ? { name: "local" } : {}) });
  return made(model);
}

function keyOf({ apiKey, provider }: AgentConfig, variable: string | undefined, { env, folder }: ModelHost): string | undefined {
  if (apiKey !== undefined) return resolveReferences({ apiKey }, "agent", { env, folder }).values["apiKey"];
  if (variable === undefined) return undefined;
  const found = env[variable];
  if (found === undefined) throw new CallgateError("CONFIG_INVALID", `The key of ${provider} is missing: set the environment variable ${variable}, or agent.apiKey to a reference such as env:MY_KEY`);
  return found;
}

/** From beside the configuration first: it is the user's, and so is its version. */
async function loadProvider(name: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
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

function readScript(script: string | undefined, folder: string): readonly ScriptedTurn[] {
  if (script === undefined) throw new CallgateError("CONFIG_INVALID", "agent.script is missing: a JSON file with the turns of the scripted model");
  const file = resolve(folder, script);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `agent.script: ${script} cannot be read as JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  const turns: readonly unknown[] = Array.isArray(value) ? value : [];
  const wrong = turns.findIndex((turn) => typeof turn !== "string" && (typeof turn !== "object" || turn === null));
  if (turns.length === 0 || wrong >= 0) throw new CallgateError("CONFIG_INVALID", `agent.script: ${script} must be a list of turns, each a text or { text, calls }${wrong < 0 ? "" : `; turn ${wrong + 1} is neither`}`);
  return turns as readonly ScriptedTurn[];
}

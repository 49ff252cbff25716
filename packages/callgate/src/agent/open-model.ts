import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { scriptedModel } from "@callgate/agent";
import type { AgentModel, ScriptedTurn } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type { AgentConfig } from "../config/agent-schema.ts";
import { openProvider } from "./open-provider.ts";
import type { ModelHost } from "./open-provider.ts";

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
  const { provider, model, baseURL, apiKey, script } = config;
  if (script !== undefined) throw new CallgateError("CONFIG_INVALID", `agent.script belongs to the provider scripted, not to ${provider}`);
  if (model === undefined) throw new CallgateError("CONFIG_INVALID", `agent.model is missing: the name of a model, as ${provider} names it`);
  return (await openProvider({ provider, baseURL, apiKey }, "agent", host))(model) as AgentModel;
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

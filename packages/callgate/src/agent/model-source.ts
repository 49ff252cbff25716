import { aiTools } from "@callgate/agent";
import type { AgentModel } from "@callgate/agent";
import type { Source } from "@callgate/contract";
import { functionSource } from "@callgate/runtime/source";
import type { CallgateConfig } from "../config/load-config.ts";
import { definedPrice } from "./defined-price.ts";
import { openModel } from "./open-model.ts";

const namespace = "ai";
/** Blocks of the configuration whose keys are namespaces. */
const namespaceBlocks: readonly string[] = ["tools", "mcpServers", "openapi", "graphql", "sql", "documents", "searchApis"];

/**
 * `ai.summarize` and `ai.extract`, where a model is configured and nobody else has the namespace. The model is opened with the
 * first call: a key that is missing is told then, and to whom it matters.
 */
export function modelSource(config: CallgateConfig, host: Parameters<typeof openModel>[1] & { readonly sources: readonly Source[] }): readonly Source[] {
  const { agent } = config;
  if (agent === undefined || agent.provider === "scripted" || isTaken(config, host.sources)) return [];
  let opened: Promise<AgentModel> | undefined;
  const model = (): Promise<AgentModel> => (opened ??= openModel(agent, host));
  return [functionSource({ namespace, purpose: "the configured model: summaries, and values out of texts", tools: aiTools({ model, ...(agent.price === undefined ? {} : { price: definedPrice(agent.price) }) }) })];
}

function isTaken(config: CallgateConfig, sources: readonly Source[]): boolean {
  const blocks: Readonly<Record<string, unknown>> = { ...config };
  return sources.some((source) => source.namespace === namespace) || namespaceBlocks.some((block) => Object.hasOwn(blocks[block] ?? {}, namespace));
}


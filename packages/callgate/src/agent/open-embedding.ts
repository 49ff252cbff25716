import { aiSdkEmbedding } from "@callgate/agent";
import type { AiSdkEmbeddingModel } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type { EmbeddingProvider, SearchEmbedding } from "@callgate/contract";
import type { EmbeddingConfig } from "../config/embedding-schema.ts";
import { openProvider } from "./open-provider.ts";
import type { ModelHost } from "./open-provider.ts";

/**
 * The embedding model that a configuration names. It is opened with the first search: a key or a package that is missing is
 * told then, as any other reason for which there are no vectors (`SearchEmbedding.onFault`).
 */
export function openEmbedding(config: EmbeddingConfig, host: ModelHost): SearchEmbedding {
  const { provider, model, dimensions, baseURL, timeoutMs, maxTexts } = config;
  let opened: Promise<EmbeddingProvider> | undefined;
  return {
    provider: {
      // Another server may give other vectors under the same name.
      model: [provider, model, ...(baseURL === undefined ? [] : [baseURL])].join(" "),
      dimensions,
      async embed(texts, signal) {
        opened ??= openModel(config, host);
        // What is missing may be there the next time.
        opened.catch(() => (opened = undefined));
        return await (await opened).embed(texts, signal);
      },
    },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxTexts === undefined ? {} : { maxTexts }),
  };
}

async function openModel(config: EmbeddingConfig, host: ModelHost): Promise<EmbeddingProvider> {
  const made = await openProvider(config, "embedding", host);
  const maker = made["embeddingModel"] ?? made["textEmbeddingModel"];
  if (typeof maker !== "function") throw new CallgateError("CONFIG_INVALID", `The installed package of ${config.provider} has no embedding models; install its newest version`);
  return aiSdkEmbedding(maker.call(made, config.model) as AiSdkEmbeddingModel, { dimensions: config.dimensions });
}

import { expect, test } from "vitest";
import { aiSdkEmbedding } from "./ai-sdk-embedding.ts";
import type { AiSdkEmbeddingModel } from "./ai-sdk-embedding.ts";

type Asked = Parameters<Extract<AiSdkEmbeddingModel, { specificationVersion: "v4" }>["doEmbed"]>[0];

test.each(["v4", "v3", "v2"] as const)("a model of the AI SDK, %s, is asked for no more texts at once than it takes, in order", async (specificationVersion) => {
  const asked: Asked[] = [];
  const model = {
    specificationVersion,
    provider: "p",
    modelId: "m",
    maxEmbeddingsPerCall: Promise.resolve(2),
    supportsParallelCalls: false,
    doEmbed(options: Asked) {
      asked.push(options);
      return Promise.resolve({ embeddings: options.values.map((text) => [text.length, 1]), warnings: [] });
    },
  } as unknown as AiSdkEmbeddingModel;
  const embedding = aiSdkEmbedding(model, { dimensions: 2 });
  expect([embedding.model, embedding.dimensions]).toEqual(["p m", 2]);
  const { signal } = new AbortController();
  expect(await embedding.embed(["a", "bb", "ccc"], signal)).toEqual([[1, 1], [2, 1], [3, 1]]);
  expect(asked.map(({ values, abortSignal, dimensions }) => [values.length, abortSignal === signal, dimensions])).toEqual([[2, true, specificationVersion === "v4" ? 2 : undefined], [1, true, specificationVersion === "v4" ? 2 : undefined]]);
  expect(await embedding.embed([], signal)).toEqual([]);
});

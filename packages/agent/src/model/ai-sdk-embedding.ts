import type { EmbeddingModelV2, EmbeddingModelV3, EmbeddingModelV4 } from "@ai-sdk/provider";
import type { EmbeddingProvider } from "@callgate/contract";

/** Any embedding model of the AI SDK, of its versions 5 to 7. */
export type AiSdkEmbeddingModel = EmbeddingModelV4 | EmbeddingModelV3 | EmbeddingModelV2<string>;

/**
 * An embedding model of the AI SDK as what search goes by (`createCallgate({ embedding: { provider: aiSdkEmbedding(model, { dimensions: 1536 }) } })`).
 *
 * @param dimensions numbers of its vectors. A model that can give several is asked for these where its interface has a word for it (the
 * newest has); another is configured where it is made
 */
export function aiSdkEmbedding(model: AiSdkEmbeddingModel, { dimensions }: { readonly dimensions: number }): EmbeddingProvider {
  return {
    model: `${model.provider} ${model.modelId}`,
    dimensions,
    async embed(texts, signal) {
      const [most = texts.length] = [await model.maxEmbeddingsPerCall];
      const atOnce = Math.max(1, Math.min(most, texts.length));
      const vectors: number[][] = [];
      for (let at = 0; at < texts.length; at += atOnce) {
        const values = texts.slice(at, at + atOnce);
        const { embeddings } = model.specificationVersion === "v4" ? await model.doEmbed({ values, dimensions, abortSignal: signal }) : await model.doEmbed({ values, abortSignal: signal });
        vectors.push(...embeddings);
      }
      return vectors;
    },
  };
}

import type { Clock, SearchEmbedding } from "@callgate/contract";
import { race } from "../../lib/race.ts";
import { shortened } from "./kept-vectors.ts";
import type { ShortVector } from "./kept-vectors.ts";

/** There are no vectors, for a reason that whoever searches may read. */
export class WordsAlone extends Error {
  override readonly name = "WordsAlone";
}

export const notices = {
  failed: "The embedding model did not answer: tools were found by words alone.",
  late: "The vectors of the embedding model are not there yet: tools were found by words alone.",
  spent: "The embedding model has been asked about as many texts as it may (maxTexts): tools were found by words alone.",
} as const;

/** Asks for vectors within the bounds of a gate. */
export interface ProviderAsk {
  /** One for each text. Rejects with `WordsAlone` where that cannot be; why it cannot has been told to `onFault` then. */
  vectorsOf(texts: readonly string[], timeoutMs: number): Promise<readonly ShortVector[]>;
}

/** A provider that failed is left alone for this long: each search would wait for it. */
const restMs = 30_000;

export function createProviderAsk({ provider, maxTexts = 50_000, onFault = () => undefined }: SearchEmbedding, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): ProviderAsk {
  let sentTexts = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  function failed(fault: unknown): WordsAlone {
    restsUntilMs = clock.monotonic() + restMs;
    if (!signal.aborted) onFault(fault);
    return new WordsAlone(notices.failed);
  }

  return {
    async vectorsOf(texts, timeoutMs) {
      if (clock.monotonic() < restsUntilMs) throw new WordsAlone(notices.failed);
      if (sentTexts + texts.length > maxTexts) throw new WordsAlone(notices.spent);
      sentTexts += texts.length;
      const raced = await race(({ signal: inner }) => provider.embed(texts, inner), { clock, timeoutMs, signal });
      switch (raced.kind) {
        case "value":
          try {
            return judged(raced.value, texts.length, provider);
          } catch (fault) {
            throw failed(fault);
          }
        case "threw":
          throw failed(raced.error);
        case "timed_out":
          throw failed(new Error(`The embedding model ${provider.model} gave no vectors within ${timeoutMs} ms`));
        case "cancelled":
          throw new WordsAlone(notices.failed);
      }
    },
  };
}

/** What a provider gives is not believed: one vector of the wrong kind would make every likeness wrong. */
function judged(vectors: readonly ArrayLike<number>[], count: number, { model, dimensions }: SearchEmbedding["provider"]): readonly ShortVector[] {
  if (!Array.isArray(vectors) || vectors.length !== count) throw new Error(`The embedding model ${model} gave ${Array.isArray(vectors) ? vectors.length : "no list of"} vectors for ${count} texts`);
  return vectors.map((vector: ArrayLike<number> | undefined) => {
    const short = shortened(vector, dimensions);
    if (short === undefined) throw new Error(`The embedding model ${model} gave a vector that is not ${dimensions} finite numbers`);
    return short;
  });
}

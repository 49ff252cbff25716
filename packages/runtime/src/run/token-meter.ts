import type { TokenCounter } from "../result/token-counter.ts";

/**
 * What the calls of a run would have put into a model's context as direct calls: arguments and results as JSON.
 * Characters of all calls are counted; tokens of up to 30 samples of 2,000 characters give the rate. So it is exact for
 * a few small calls and an estimate (some per cent) for many or large ones.
 */
export interface TokenMeter {
  add(json: string): void;
  total(counter: TokenCounter): number;
}

const maxSamples = 30;
const sampleChars = 2_000;

export function createTokenMeter(): TokenMeter {
  const samples: string[] = [];
  let chars = 0;
  let texts = 0;
  return {
    add(json) {
      chars += json.length;
      texts += 1;
      if (samples.length < maxSamples) samples.push(startOf(json));
      // Spreads the samples over runs of any length, without randomness.
      else if ((texts & (texts - 1)) === 0) samples[texts % maxSamples] = startOf(json);
    },
    total(counter) {
      if (chars === 0) return 0;
      const sampled = samples.reduce((sum, sample) => sum + sample.length, 0);
      const tokens = samples.reduce((sum, sample) => sum + counter.count(sample), 0);
      return sampled === chars ? tokens : Math.round((tokens / Math.max(1, sampled)) * chars);
    },
  };
}

/** A copy: a slice would keep the whole of a large text alive. */
function startOf(json: string): string {
  return json.length <= sampleChars ? json : Buffer.from(json.slice(0, sampleChars), "utf16le").toString("utf16le");
}

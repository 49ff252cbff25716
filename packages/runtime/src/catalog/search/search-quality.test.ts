import { describe, expect, test } from "vitest";
import { hasRetrievalSets, judgeRetriever, plainBm25, readRetrievalSet } from "./fixtures/retrieval-sets.ts";
import type { RetrievalSetName } from "./fixtures/retrieval-sets.ts";
import { createSearchIndex } from "./search-index.ts";

const names = Object.keys(plainBm25) as RetrievalSetName[];
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

// docs/results/retrieval.md has the figures; `node checks/full/retrieval.mjs` writes it.
describe.skipIf(!hasRetrievalSets)("search on the sets of ../shared/data/retrieval (skipped without them)", () => {
  test("is better than a plain BM25 on each, and by three points of nDCG@10 on their mean", async () => {
    const found = new Map<RetrievalSetName, { readonly ndcg: number; readonly recall: number; readonly all: number }>();
    for (const name of names) {
      const set = readRetrievalSet(name);
      const index = await createSearchIndex(set.tools);
      found.set(name, await judgeRetriever(set, (query) => index.search(query, { limit: 20 }).map((hit) => hit.name)));
    }
    for (const [name, { ndcg }] of found) expect(ndcg, name).toBeGreaterThanOrEqual(plainBm25[name]);
    expect(mean([...found.values()].map(({ ndcg }) => ndcg))).toBeGreaterThanOrEqual(mean(Object.values(plainBm25)) + 3);
    // Tasks of several tools: what is needed is among the first twenty, not only the one that fits best.
    expect(found.get("livemcpbench")?.recall).toBeGreaterThanOrEqual(60);
  }, 300_000);
});

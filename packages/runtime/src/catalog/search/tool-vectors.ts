import type { Clock, SearchEmbedding } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../../lib/at-most.ts";
import { race } from "../../lib/race.ts";
import { createSlices } from "../../lib/slices.ts";
import { createProviderAsk, notices, WordsAlone } from "./ask-provider.ts";
import type { ProviderAsk } from "./ask-provider.ts";
import { cosine, readVectors, writeVectors } from "./kept-vectors.ts";
import type { ShortVector, VectorsByDigest } from "./kept-vectors.ts";
import type { SearchableTool } from "./tool-terms.ts";

/** How like a query tools are; or why nobody can say, for whoever asked. */
export type Compared = { readonly kind: "compared"; readonly likeness: Float32Array } | { readonly kind: "words_alone"; readonly notice: string };

/** Compares by meaning. Lives as long as a gate; its catalogs come and go. */
export interface ToolVectors {
  /**
   * In the order of `tools`; those outside are not compared. Vectors that are not there yet are made for all of them, and waited
   * for as long as one search may. Never rejects.
   */
  compare(query: string, tools: readonly SearchableTool[], isInside: (tool: number) => boolean): Promise<Compared>;
  /** Ends what is under way, and keeps what has been made. */
  close(): Promise<void>;
}

/** Texts of tools say what they are for at their start, and models read only so much. */
const maxTextChars = 2_000;
const maxQueryChars = 1_000;
const maxKeptQueries = 256;
/** After so many requests what was made is kept: it may have been paid for. */
const requestsBetweenWrites = 64;

export function createToolVectors(options: SearchEmbedding, clock: Clock): ToolVectors {
  const { timeoutMs = 2_000 } = options;
  const closing = new AbortController();
  const ask = createProviderAsk(options, { clock, signal: closing.signal });
  const keeper = createVectorKeeper(options, ask);
  const queries = new LRUCache<string, ShortVector>(atMost(maxKeptQueries));

  async function vectorOf(query: string): Promise<ShortVector> {
    const known = queries.get(query) ?? (await ask.vectorsOf([query], timeoutMs))[0];
    if (known === undefined) throw new WordsAlone(notices.failed);
    queries.set(query, known);
    return known;
  }

  return {
    async compare(text, tools, isInside) {
      const query = text.slice(0, maxQueryChars).trim();
      if (query === "") return { kind: "words_alone", notice: "" };
      const raced = await race(() => Promise.all([keeper.of(tools), vectorOf(query)]), { clock, timeoutMs, signal: closing.signal });
      if (raced.kind === "value") return { kind: "compared", likeness: await likenessOf(raced.value, tools, isInside) };
      return { kind: "words_alone", notice: raced.kind === "threw" && raced.error instanceof WordsAlone ? raced.error.message : notices.late };
    },
    async close() {
      closing.abort(new Error("The gate was closed"));
      await keeper.settled();
    },
  };
}

async function likenessOf([known, query]: readonly [VectorsByDigest, ShortVector], tools: readonly SearchableTool[], isInside: (tool: number) => boolean): Promise<Float32Array> {
  const slices = createSlices();
  const likeness = new Float32Array(tools.length);
  for (const [index, { definitionDigest }] of tools.entries()) {
    const vector = isInside(index) ? known.get(definitionDigest) : undefined;
    if (vector !== undefined) likeness[index] = cosine(query, vector);
    if (slices.isDue) await slices.giveWay();
  }
  return likeness;
}

interface VectorKeeper {
  /** Once all of them are there. What is missing is asked for once, however many search meanwhile. */
  of(tools: readonly SearchableTool[]): Promise<VectorsByDigest>;
  settled(): Promise<void>;
}

function createVectorKeeper(options: SearchEmbedding, ask: ProviderAsk): VectorKeeper {
  const { provider, store, batchTexts = 64, toolTimeoutMs = 60_000 } = options;
  const complete = new WeakSet<readonly SearchableTool[]>();
  let known: VectorsByDigest | undefined;
  let working: Promise<void> = Promise.resolve();

  async function make(missing: readonly SearchableTool[], vectors: VectorsByDigest): Promise<void> {
    let [requests, isNew] = [0, false];
    try {
      for (let at = 0; at < missing.length; at += batchTexts) {
        const batch = missing.slice(at, at + batchTexts);
        const made = await ask.vectorsOf(batch.map(textOf), toolTimeoutMs);
        for (const [index, tool] of batch.entries()) {
          const vector = made[index];
          if (vector !== undefined) vectors.set(tool.definitionDigest, vector);
        }
        [requests, isNew] = [requests + 1, true];
        if (store !== undefined && requests % requestsBetweenWrites === 0) await writeVectors(store, vectors, provider);
      }
    } finally {
      if (isNew && store !== undefined) await writeVectors(store, vectors, provider);
    }
  }

  async function complement(tools: readonly SearchableTool[]): Promise<void> {
    known ??= store === undefined ? new Map() : await readVectors(store, provider);
    const vectors = known;
    const missing = tools.filter(({ definitionDigest }) => !vectors.has(definitionDigest));
    if (missing.length > 0) {
      dropForgotten(vectors, tools);
      await make(missing, vectors);
    }
    complete.add(tools);
  }

  return {
    async of(tools) {
      if (!complete.has(tools)) {
        const mine = working.then(() => complement(tools));
        working = mine.catch(() => undefined);
        await mine;
      }
      return known ?? new Map();
    },
    settled: () => working,
  };
}

/** Tools that are away come back, and their vectors were paid for; for good they are kept up to as many as there are tools. */
function dropForgotten(vectors: VectorsByDigest, tools: readonly SearchableTool[]): void {
  const spare = vectors.size - 2 * tools.length - 1_000;
  if (spare <= 0) return;
  const here = new Set(tools.map(({ definitionDigest }) => definitionDigest));
  const gone = [...vectors.keys()].filter((digest) => !here.has(digest));
  for (const digest of gone.slice(0, spare)) vectors.delete(digest);
}

/** What a model is told of a tool. Only of its definition: it is kept under the digest of that. */
function textOf({ spec }: SearchableTool): string {
  const name = spec.name.replaceAll(/[_.\-/]+|(?<=\p{Ll})(?=\p{Lu})/gu, " ").trim();
  return [name, spec.title, spec.description, spec.whenToUse, spec.tags.join(", ")].filter((part) => part !== undefined && part !== "").join("\n").slice(0, maxTextChars).toWellFormed();
}

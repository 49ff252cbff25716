import type { Clock, EmbeddingProvider, SearchIndexStore } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../lib/system-clock.ts";
import { hashedEmbedding } from "./fixtures/hashed-embedding.ts";
import { specOf } from "./fixtures/retrieval-sets.ts";
import { createToolVectors } from "./tool-vectors.ts";
import type { SearchableTool } from "./tool-terms.ts";

const toolOf = (name: string, description: string, version = 1): SearchableTool => ({ name, namespace: "", purpose: undefined, definitionDigest: `sha256:${name}.${version}`, spec: specOf(name, description) });
const tools = [toolOf("refund_payment", "Gives money back"), toolOf("list_orders", "Orders of a customer"), toolOf("moon_phase", "Phase of the moon")];
const all = () => true;

/** Notes what is sent. */
function watched(provider: EmbeddingProvider = hashedEmbedding()): EmbeddingProvider & { readonly sent: string[] } {
  const sent: string[] = [];
  return { ...provider, sent, embed: async (texts, signal) => {
    sent.push(...texts);
    return await provider.embed(texts, signal);
  } };
}

function memoryStore(): SearchIndexStore & { readonly said: string[]; spoil(): void } {
  let bytes: Uint8Array | undefined;
  const said: string[] = [];
  return { said, read: () => bytes, write: (given) => void (bytes = given), damaged: (why) => void said.push(why), spoil: () => void (bytes = bytes?.slice(0, -3)) };
}

/** A clock that is set by hand; what is scheduled fires at once where it is due. */
function handClock(): Clock & { passMs(ms: number): void } {
  const system = systemClock();
  let passedMs = 0;
  return { now: () => system.now() + passedMs, monotonic: () => system.monotonic() + passedMs, schedule: (delayMs, fire) => system.schedule(delayMs, fire), passMs: (ms) => void (passedMs += ms) };
}

const likest = (compared: Awaited<ReturnType<ReturnType<typeof createToolVectors>["compare"]>>): string | undefined => {
  if (compared.kind !== "compared") return undefined;
  return tools[compared.likeness.indexOf(Math.max(...compared.likeness))]?.name;
};

describe("createToolVectors", () => {
  test("sends each definition once, each query once, and only what is new after a change or in the next process", async () => {
    const store = memoryStore();
    const first = watched();
    const vectors = createToolVectors({ provider: first, store }, systemClock());
    expect(likest(await vectors.compare("money back for a payment", tools, all))).toBe("refund_payment");
    expect(likest(await vectors.compare("money back for a payment", tools, all))).toBe("refund_payment");
    expect(first.sent).toHaveLength(4);
    expect(first.sent).toContain("refund payment\nGives money back");
    await vectors.close();

    const second = watched();
    const changed = [toolOf("refund_payment", "Pays back", 2), ...tools.slice(1)];
    await createToolVectors({ provider: second, store }, systemClock()).compare("moon", changed, all);
    expect(second.sent.toSorted()).toEqual(["moon", "refund payment\nPays back"]);
    expect(store.said).toEqual([]);
  });

  test("vectors of another model, or a damaged file, are made anew", async () => {
    const store = memoryStore();
    await createToolVectors({ provider: hashedEmbedding(), store }, systemClock()).compare("moon", tools, all);
    const other = watched({ ...hashedEmbedding(), model: "another" });
    await createToolVectors({ provider: other, store }, systemClock()).compare("moon", tools, all);
    expect(other.sent).toHaveLength(4);
    store.spoil();
    const again = watched({ ...hashedEmbedding(), model: "another" });
    expect(likest(await createToolVectors({ provider: again, store }, systemClock()).compare("moon", tools, all))).toBe("moon_phase");
    expect(store.said).toEqual(["its bytes are not those that were written"]);
  });

  test("what is outside is not compared", async () => {
    const compared = await createToolVectors({ provider: hashedEmbedding() }, systemClock()).compare("moon", tools, (tool) => tool !== 2);
    expect(compared.kind === "compared" && compared.likeness[2]).toBe(0);
  });

  test.each<[string, EmbeddingProvider["embed"], RegExp]>([
    ["rejects", () => Promise.reject(new Error("401 key sk-very-secret")), /401/],
    ["gives too few", () => Promise.resolve([]), /gave 0 vectors for/],
    ["gives other dimensions", (texts) => Promise.resolve(texts.map(() => [1, 2])), /not 256 finite numbers/],
    ["gives what is no number", (texts) => Promise.resolve(texts.map(() => Array.from({ length: 256 }, () => Number.NaN))), /not 256 finite numbers/],
    ["never answers", () => new Promise(() => undefined), /no vectors within/],
  ])("a provider that %s: words alone, told without its words, and left alone for a while", async (_, embed, reason) => {
    const [faults, clock] = [[] as string[], handClock()];
    const provider = watched({ ...hashedEmbedding(), embed });
    const vectors = createToolVectors({ provider, timeoutMs: 30, toolTimeoutMs: 20, onFault: (fault) => void faults.push(String(fault)) }, clock);
    const compared = await vectors.compare("moon", tools, all);
    expect(compared).toMatchObject({ kind: "words_alone", notice: expect.stringMatching(/found by words alone/) as string });
    expect(JSON.stringify(compared)).not.toContain("sk-very-secret");
    await expect.poll(() => faults.some((fault) => reason.test(fault))).toBe(true);
    const sent = provider.sent.length;
    expect((await vectors.compare("moon", tools, all)).kind).toBe("words_alone");
    expect(provider.sent).toHaveLength(sent);
    clock.passMs(31_000);
    await vectors.compare("moon", tools, all);
    expect(provider.sent.length).toBeGreaterThan(sent);
  });

  test("no more texts are sent than may be", async () => {
    const provider = watched();
    const vectors = createToolVectors({ provider, maxTexts: 4 }, systemClock());
    expect((await vectors.compare("moon", tools, all)).kind).toBe("compared");
    expect(await vectors.compare("orders", tools, all)).toEqual({ kind: "words_alone", notice: expect.stringContaining("maxTexts") as string });
    expect((await vectors.compare("moon", tools, all)).kind).toBe("compared");
    expect(provider.sent).toHaveLength(4);
  });

  test("a search does not wait for the vectors of a large catalog; a later one has them", async () => {
    const own = hashedEmbedding();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const provider: EmbeddingProvider = { ...own, embed: async (texts, signal) => {
      if (texts.length > 1) await held;
      return await own.embed(texts, signal);
    } };
    const vectors = createToolVectors({ provider, timeoutMs: 50 }, systemClock());
    expect(await vectors.compare("moon", tools, all)).toMatchObject({ kind: "words_alone", notice: expect.stringContaining("not there yet") as string });
    release();
    await expect.poll(async () => (await vectors.compare("moon", tools, all)).kind).toBe("compared");
  });
});

import type { SearchIndexStore } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { specOf } from "./fixtures/retrieval-sets.ts";
import { createSearchIndex } from "./search-index.ts";
import type { SearchableTool } from "./tool-terms.ts";

interface Watched extends SearchIndexStore {
  bytes: Uint8Array | undefined;
  readonly said: string[];
}

function memoryStore(): Watched {
  const store: Watched = {
    bytes: undefined,
    said: [],
    read: () => store.bytes,
    write: (bytes) => void (store.bytes = bytes),
    damaged: (why) => void store.said.push(why),
  };
  return store;
}

const read: string[] = [];

/** Notes whose words are read. */
function toolOf(number: number, version = 1): SearchableTool {
  const name = `svc.list_${number}`;
  const spec = specOf(name, "");
  return { name, namespace: "svc", purpose: "Users of Oslo", definitionDigest: `sha256:${number}.${version}`, spec: { ...spec, get description() {
    read.push(name);
    return `Lists users of group ${number} in version ${version}`;
  } } };
}

const tools = Array.from({ length: 600 }, (_, number) => toolOf(number));
const hits = async (given: readonly SearchableTool[], store?: SearchIndexStore) => (await createSearchIndex(given, store)).search("list users of group 7, version 2", { limit: 10 });
const readBy = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  read.length = 0;
  await work();
  return [...new Set(read)];
};

describe("a search index that is kept", () => {
  test("reads only what changed, and finds the same as one that reads all", async () => {
    const store = memoryStore();
    expect(await readBy(() => createSearchIndex(tools, store))).toHaveLength(600);
    const written = store.bytes;
    expect(await readBy(() => createSearchIndex(tools, store))).toEqual([]);
    expect(store.bytes).toBe(written);
    expect(await hits(tools, store)).toEqual(await hits(tools));

    const changed = tools.map((tool, number) => (number === 7 ? toolOf(7, 2) : tool)).slice(0, 590);
    expect(await readBy(() => createSearchIndex(changed, store))).toEqual(["svc.list_7"]);
    expect(await hits(changed, store)).toEqual(await hits(changed));
    expect((await hits(changed, store))[0]?.name).toBe("svc.list_7");
    // What is no tool any more is gone from what is kept.
    expect(Buffer.from(store.bytes ?? []).includes("sha256:595.1")).toBe(false);
    expect(store.said).toEqual([]);
  });

  test.each([
    ["cut off", (bytes: Uint8Array) => bytes.slice(0, -5), "its bytes are not those that were written"],
    ["changed", (bytes: Uint8Array) => bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1), "its bytes are not those that were written"],
    ["empty", () => new Uint8Array(0), "it is no search index"],
    ["something else", () => new Uint8Array(5_000).fill(7), "it is no search index"],
  ])("that is %s is told, made again, and whole the next time", async (_, spoil, why) => {
    const store = memoryStore();
    await createSearchIndex(tools, store);
    store.bytes = spoil(store.bytes ?? new Uint8Array());
    expect(await hits(tools, store)).toEqual(await hits(tools));
    expect(store.said).toEqual([why]);
    expect(await readBy(() => createSearchIndex(tools, store))).toEqual([]);
  });

  test("of another version is made again without a word", async () => {
    const store = memoryStore();
    await createSearchIndex(tools, store);
    store.bytes = Buffer.concat([Buffer.from("callgate search index 0\n"), Buffer.from(store.bytes ?? [])]);
    expect(await readBy(() => createSearchIndex(tools, store))).toHaveLength(600);
    expect(store.said).toEqual([]);
  });

  test("is made, and read again, in slices: others of the process get their turns", async () => {
    const many = Array.from({ length: 12_000 }, (_, number) => ({ ...toolOf(number), spec: specOf(`svc.list_${number}`, `Lists users of group ${number}, in the order of ${"many words ".repeat(20)}`) }));
    const store = memoryStore();
    for (const made of ["from the tools", "from what is kept"]) {
      let [turns, isDone] = [0, false];
      const others = (): void => {
        turns += 1;
        if (!isDone) setImmediate(others);
      };
      setImmediate(others);
      const startedMs = performance.now();
      await createSearchIndex(many, store);
      isDone = true;
      // A slice is 10 ms, and a little over for what cannot be cut.
      expect(turns, made).toBeGreaterThan((performance.now() - startedMs) / 60);
    }
  });

  test("is not kept where there are few tools: they are read as fast", async () => {
    const store = memoryStore();
    await createSearchIndex(tools.slice(0, 20), store);
    expect(store.bytes).toBeUndefined();
  });
});

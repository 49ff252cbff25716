import { readFile } from "node:fs/promises";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createDocumentCache } from "./document-cache.ts";
import { createDocumentReader, isUrl, locationOf } from "./document-reader.ts";
import { createDocumentStore } from "./document-store.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-openapi-store-"));
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 2 }));

const documentOf = (...names: readonly string[]): string => JSON.stringify({ openapi: "3.1.0", paths: Object.fromEntries(names.map((name) => [`/${name}`, { get: { operationId: name } }])) });
const signal = new AbortController().signal;

/** A store in front of texts by location, which counts what is read. */
function world({ location = "https://docs.example/api.json", texts }: { readonly location?: string; readonly texts: Record<string, string | undefined> }) {
  const reads: string[] = [];
  let nowMs = 1_000_000;
  const read = (part: string): Promise<string> => {
    reads.push(part);
    const text = texts[part];
    return isUrl(part) ? (text === undefined ? Promise.reject(new Error("the service is away")) : Promise.resolve(text)) : readFile(part, "utf8");
  };
  const open = () => createDocumentStore({ location, read, cache: createDocumentCache(join(folder, "cache")), refreshMs: 60_000, now: () => nowMs });
  return { reads, open, pass: (ms: number) => void (nowMs += ms) };
}

const names = (stored: { readonly converted: { readonly tools: readonly { readonly spec: { readonly name: string } }[] } }) => stored.converted.tools.map(({ spec }) => spec.name);

describe("a document from a URL", () => {
  const location = "https://docs.example/api.json";

  test("is read once in its time, also by a process that starts later", async () => {
    const { reads, open, pass } = world({ texts: { [location]: documentOf("a") } });
    const store = open();
    const first = await store.get(signal);
    expect(names(first)).toEqual(["a"]);
    expect((await store.get(signal)).converted).toBe(first.converted);
    expect(names(await open().get(signal))).toEqual(["a"]);
    expect(reads).toHaveLength(1);
    pass(60_001);
    await open().get(signal);
    expect(reads).toHaveLength(2);
  });

  test("that is away goes on as it was, and says why", async () => {
    const texts: Record<string, string | undefined> = { [location]: documentOf("a") };
    const { open, pass } = world({ texts });
    await open().get(signal);
    texts[location] = undefined;
    pass(60_001);
    const stored = await open().get(signal);
    expect([names(stored), stored.stale]).toEqual([["a"], "the service is away"]);
    texts[location] = documentOf("a", "b");
    expect(names(await open().get(signal))).toEqual(["a", "b"]);
  });

  test("that was never there is an error", async () => {
    await expect(world({ texts: {} }).open().get(signal)).rejects.toThrow("the service is away");
  });
});

describe("a document from a file", () => {
  const location = join(folder, "api.json");

  test("is converted when what is in it changes, and otherwise taken from what is kept", async () => {
    const own = mkdtempSync(join(tmpdir(), "callgate-openapi-file-"));
    const file = join(own, "api.json");
    writeFileSync(file, documentOf("a"));
    const { open } = world({ location: file, texts: {} });
    const first = await open().get(signal);
    writeFileSync(file, documentOf("a"));
    const again = await open().get(signal);
    expect(again.converted).toEqual(first.converted);
    writeFileSync(file, documentOf("b", "c"));
    expect(names(await open().get(signal))).toEqual(["b", "c"]);
    rmSync(own, { recursive: true });
  });

  test("that breaks while it is used goes on as it was; a process that starts with it is told", async () => {
    const own = mkdtempSync(join(tmpdir(), "callgate-openapi-file-"));
    const file = join(own, "api.json");
    writeFileSync(file, documentOf("a"));
    const { open } = world({ location: file, texts: {} });
    const store = open();
    await store.get(signal);
    writeFileSync(file, "openapi: [");
    expect(await store.get(signal)).toMatchObject({ stale: expect.stringContaining("neither JSON nor YAML") });
    await expect(open().get(signal)).rejects.toThrow("neither JSON nor YAML");
    rmSync(own, { recursive: true });
  });

  test("is kept for its owner only, and what is kept and broken is made anew", async () => {
    const own = mkdtempSync(join(tmpdir(), "callgate-openapi-file-"));
    const file = join(own, "api.json");
    writeFileSync(file, documentOf("a"));
    const { open } = world({ location: file, texts: {} });
    await open().get(signal);
    const cache = join(folder, "cache");
    const [kept = ""] = readdirSync(cache);
    writeFileSync(join(cache, kept), "{");
    expect(names(await open().get(signal))).toEqual(["a"]);
    rmSync(own, { recursive: true });
  });

  test("is named by path or URL", () => {
    expect(locationOf("./api.json", folder)).toBe(location);
    expect(locationOf("https://a.example/x.json", folder)).toBe("https://a.example/x.json");
  });
});

describe("what may be read", () => {
  const fetchText = (): Promise<string> => Promise.resolve("text");

  test("is, for a document from a URL, no file", async () => {
    const read = createDocumentReader("https://a.example/api.json", { folders: [], fetchText });
    await expect(read("/etc/hostname", signal)).rejects.toThrow("a document from a URL cannot refer to files");
    await expect(read("file:///etc/hostname", signal)).rejects.toThrow("only files and http(s) URLs are read");
    expect(await read("https://b.example/x.json", signal)).toBe("text");
  });

  test("is, for a file, what is in the folders, wherever links lead", async () => {
    const own = mkdtempSync(join(tmpdir(), "callgate-openapi-file-"));
    const read = createDocumentReader(join(own, "root.json"), { folders: [own], fetchText });
    symlinkSync("/etc/hostname", join(own, "link.yaml"));
    writeFileSync(join(own, "near.yaml"), "near");
    await expect(read("/etc/hostname", signal)).rejects.toThrow("it is outside of");
    await expect(read(join(own, "link.yaml"), signal)).rejects.toThrow("it is outside of");
    expect(await read(join(own, "near.yaml"), signal)).toBe("near");
    rmSync(own, { recursive: true });
  });
});

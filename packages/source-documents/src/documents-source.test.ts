import { chmodSync, readdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "@callgate/contract";
import { CallgateError, ToolError } from "@callgate/contract";
import { testSource } from "@callgate/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { documentsSourceWith } from "./documents-source.ts";
import type { DocumentsSourceOptions } from "./documents-options.ts";
import { callTool, makeFolder, problemsOf } from "./fixtures/test-documents.ts";
import type { DocumentPage, FoundPassages, TestFolder } from "./fixtures/test-documents.ts";
import type { DocumentReader } from "./reader/document-reader.ts";
import { readDocument } from "./reader/read-document.ts";
import type { DocumentRead } from "./reader/read-document.ts";

const handbook = {
  "refunds.md": "# Refunds\n\nHow we pay back.\n\n## Europe\n\nWithin fourteen days, without a reason.\n\n```sh\n# not a heading\n```\n\n## Elsewhere\n\nWithin seven days, only of what is broken.\n",
  "guide/travel.txt": "Trains before planes. A hotel costs at most 120 a night.\n",
  "page.html": "<html><head><title>Parking &amp; bikes</title><script>let days = 1</script></head><body><h1>Parking</h1><p>Nobody parks here.</p><h2>Bikes</h2><p>Bikes stand in the cellar.</p></body></html>",
  "people.csv": "name;city\nAnn;Oslo\nBob;Bergen\n",
};

const files: string[] = [];
/** Reads in this thread, and keeps what it was asked to read. */
const plainReader = (): DocumentReader => ({
  read: (file) => {
    files.push(file.extension);
    return readDocument(file);
  },
  close: () => Promise.resolve(),
});

let folders: TestFolder[] = [];
let sources: Source[] = [];
const folderOf = (some: Parameters<typeof makeFolder>[0] = {}): TestFolder => {
  const folder = makeFolder(some);
  folders.push(folder);
  return folder;
};
const open = (folder: TestFolder, options: Partial<DocumentsSourceOptions> = {}): Source => {
  const source = documentsSourceWith({ namespace: "handbook", folder: folder.path, ...options }, plainReader());
  sources.push(source);
  return source;
};
const search = async (source: Source, query: string, more: object = {}): Promise<FoundPassages["passages"]> => (await callTool<FoundPassages>(source, "search", { query, ...more })).passages;
const failure = async (work: Promise<unknown>): Promise<unknown> => await work.then(() => undefined, (fault: unknown) => fault);

afterEach(async () => {
  for (const source of sources) await source.close();
  for (const folder of folders) folder.remove();
  [folders, sources] = [[], []];
  files.length = 0;
});

describe("search", () => {
  test("gives ranked passages with their headings, from which reading goes on", async () => {
    const source = open(folderOf(handbook));
    const [first] = await search(source, "days without a reason");
    expect(first).toMatchObject({ document: "refunds.md", title: "Refunds", heading: "Refunds > Europe", passage: expect.stringContaining("fourteen days") as string });
    expect(first?.passage).toContain("# not a heading");
    const page = await callTool<DocumentPage>(source, "read", { document: "refunds.md", offset: first?.offset, limit: 9 });
    expect(page.text).toBe("## Europe");
    expect((await search(source, "bikes cellar"))[0]).toMatchObject({ document: "page.html", title: "Parking & bikes", heading: "Parking > Bikes" });
    expect((await search(source, "Bergen"))[0]).toMatchObject({ document: "people.csv", heading: "Rows 1 to 2", passage: "name: Ann | city: Oslo\nname: Bob | city: Bergen" });
  });

  test("is bounded by limit and path, and what no script or style of a page says is found", async () => {
    const source = open(folderOf(handbook));
    expect((await search(source, "days", { limit: 1 })).length).toBe(1);
    expect((await search(source, "night days", { path: "guide/" })).map(({ document }) => document)).toEqual(["guide/travel.txt"]);
    expect(await search(source, "let", { path: "page.html" })).toEqual([]);
  });

  test.each(['"', "days AND", "NEAR(days, 2)", "title:days", "days*", "-days", "^days", "(days", "days'; drop table documents; --", "{days}:", "\0days", "\ud800 days"])("takes operators as words: %j", async (query) => {
    const source = open(folderOf(handbook));
    expect(Array.isArray(await search(source, query))).toBe(true);
    expect((await search(source, "days")).length).toBeGreaterThan(0);
  });

  test("finds words of scripts without spaces, and letters with marks by those without", async () => {
    const source = open(folderOf({ "a.md": "請在七天內退貨。", "b.md": "Crème brûlée" }));
    expect((await search(source, "退貨")).map(({ document }) => document)).toEqual(["a.md"]);
    expect(await search(source, "貨退")).toEqual([]);
    expect((await search(source, "creme")).map(({ document }) => document)).toEqual(["b.md"]);
  });
});

describe("read and list", () => {
  test("pages join to the whole text, and part no character", async () => {
    const text = `${"wörd 😀".repeat(900)}`;
    const source = open(folderOf({ "long.txt": text }));
    let whole = "";
    for (let offset: number | null = 0; offset !== null; ) {
      const page: DocumentPage = await callTool(source, "read", { document: "./long.txt", offset, limit: 97 });
      expect(page.text.isWellFormed()).toBe(true);
      whole += page.text;
      offset = page.next_offset;
    }
    expect(whole.trim()).toBe(text);
    expect(await callTool<DocumentPage>(source, "read", { document: "long.txt", offset: 1e9 })).toMatchObject({ text: "", next_offset: null });
  });

  test("a name that is none is told with the nearest; nothing outside can be named", async () => {
    const source = open(folderOf(handbook));
    const fault = await failure(callTool(source, "read", { document: "refund.md" }));
    expect(ToolError.is(fault) && [fault.code, fault.details]).toEqual(["DOCUMENT_NOT_FOUND", { nearest: ["refunds.md"] }]);
    for (const document of ["../../etc/passwd", "/etc/passwd", "guide/../../x.md", ""]) expect(await failure(callTool(source, "read", { document }))).toMatchObject({ code: "DOCUMENT_NOT_FOUND" });
  });

  test("lists page by page", async () => {
    const source = open(folderOf(Object.fromEntries(Array.from({ length: 205 }, (_, n) => [`n${String(n).padStart(3, "0")}.txt`, `number ${n}`]))));
    const first = await callTool<{ documents: readonly { document: string }[]; cursor: string | null }>(source, "list", {});
    const second = await callTool<typeof first>(source, "list", { cursor: first.cursor });
    expect([first.documents.length, first.cursor, second.documents.length, second.cursor]).toEqual([200, "n199.txt", 5, null]);
  });
});

describe("what is not read", () => {
  test("links, dot files, keys, what is excluded and what is too large", async () => {
    const outside = folderOf({ "secret.md": "treasure" });
    const folder = folderOf({ "a.md": "treasure here", ".env": "treasure", ".notes/b.md": "treasure", "node_modules/x/readme.md": "treasure", "credentials.csv": "treasure", "id_rsa.txt": "treasure", "server.key.txt": "treasure", "drafts/c.md": "treasure", "big.md": `treasure ${"x".repeat(5_000)}`, "d.exe": "treasure" });
    symlinkSync(join(outside.path, "secret.md"), join(folder.path, "link.md"));
    symlinkSync(outside.path, join(folder.path, "linked"));
    const source = open(folder, { exclude: ["drafts/**"], maxFileBytes: 4_000 });
    expect((await search(source, "treasure", { limit: 50 })).map(({ document }) => document)).toEqual(["a.md"]);
    expect(await problemsOf(source)).toEqual(["big.md: it is larger than 4000 bytes (maxFileBytes)"]);
    expect(await failure(callTool(source, "read", { document: "big.md" }))).toMatchObject({ code: "DOCUMENT_UNREADABLE" });
    expect(files).toEqual([".md"]);
  });

  test("only what is included; a pattern that leads out is refused", async () => {
    const source = open(folderOf(handbook), { include: ["guide/**"] });
    expect((await callTool<{ documents: readonly { document: string }[] }>(source, "list", {})).documents.map(({ document }) => document)).toEqual(["guide/travel.txt"]);
    expect(() => open(folderOf(), { include: ["../**"] })).toThrow(CallgateError);
  });

  test("text beyond the bound and documents beyond the number, which is told", async () => {
    const source = open(folderOf({ "a.md": "word ".repeat(1_000), "b.md": "x" }), { maxTextChars: 1_000, maxFiles: 1 });
    expect(await problemsOf(source)).toHaveLength(2);
  });
});

describe("the index", () => {
  test("follows the folder, and reads only what has changed", async () => {
    const folder = folderOf(handbook);
    const cacheFolder = folderOf().path;
    const first = open(folder, { cacheFolder });
    await search(first, "days");
    expect(files).toHaveLength(4);
    await first.close();
    const second = open(folder, { cacheFolder });
    expect(await search(second, "days")).toHaveLength(2);
    expect(files).toHaveLength(4);
    // Another time, the same bytes: looked at, and not read again.
    utimesSync(join(folder.path, "page.html"), 1, 1);
    folder.write({ "new.md": "zebra", "refunds.md": "nothing" });
    await vi.waitFor(async () => expect((await search(second, "zebra")).length).toBe(1), { timeout: 20_000, interval: 300 });
    expect(await search(second, "fourteen")).toEqual([]);
    expect(files).toHaveLength(6);
    renameSync(join(folder.path, "new.md"), join(folder.path, "new.exe"));
    await vi.waitFor(async () => expect(await search(second, "zebra")).toEqual([]), { timeout: 20_000, interval: 300 });
  });

  test("is for its user alone; a damaged one is put aside, made anew and told", async () => {
    const [folder, cache] = [folderOf(handbook), folderOf()];
    const first = open(folder, { cacheFolder: cache.path });
    await search(first, "days");
    const [name = ""] = readdirSync(cache.path).filter((file) => file.endsWith(".db"));
    expect(readdirSync(cache.path).map((file) => statSync(join(cache.path, file)).mode & 0o077)).toEqual(readdirSync(cache.path).map(() => 0));
    await first.close();
    writeFileSync(join(cache.path, name), "this is no database, and it is longer than a header of one hundred bytes: ".repeat(100));
    const second = open(folder, { cacheFolder: cache.path });
    expect((await search(second, "fourteen days")).length).toBeGreaterThan(0);
    expect((await problemsOf(second))[0]).toContain("the index was damaged and is made anew");
    expect(readdirSync(cache.path)).toContain(`${name}.damaged`);
  });

  test("a folder that is gone is told, and works again when it is back", async () => {
    const folder = folderOf(handbook);
    const source = open(folder);
    await search(source, "days");
    renameSync(folder.path, `${folder.path}-away`);
    await vi.waitFor(async () => expect(await failure(search(source, "days"))).toMatchObject({ code: "SOURCE_UNAVAILABLE", notApplied: true }), { timeout: 20_000, interval: 300 });
    expect(source.state.kind).toBe("down");
    expect(await failure(source.list(new AbortController().signal))).toMatchObject({ code: "SOURCE_FAILED" });
    renameSync(`${folder.path}-away`, folder.path);
    expect((await search(source, "days")).length).toBeGreaterThan(0);
    expect(source.state.kind).toBe("ready");
  });

  test.skipIf(process.getuid?.() === 0)("a file that cannot be opened is one problem, until it can be", async () => {
    const folder = folderOf(handbook);
    chmodSync(join(folder.path, "refunds.md"), 0);
    const source = open(folder);
    expect(await problemsOf(source)).toEqual(["refunds.md: it cannot be opened (EACCES)"]);
    chmodSync(join(folder.path, "refunds.md"), 0o600);
    await vi.waitFor(async () => expect(await problemsOf(source)).toEqual([]), { timeout: 20_000, interval: 300 });
  });
});

testSource("documents", () => {
  const folder = makeFolder({ "a.md": "# A\n\nhello", "slow.txt": "slow" });
  let end = (): void => undefined;
  const ended = new Promise<DocumentRead>((resolve) => (end = () => resolve({ kind: "unreadable", reason: "closed" })));
  const slow: DocumentReader = { read: (file) => (file.extension === ".txt" ? ended : readDocument(file)), close: () => Promise.resolve(end()) };
  return Promise.resolve({
    source: documentsSourceWith({ namespace: "handbook", folder: folder.path, waitMs: 50 }, slow),
    tools: ["search", "read", "list"],
    answered: { name: "read", args: { document: "a.md" }, answer: { document: "a.md", title: "A", text: "# A\n\nhello\n\n", offset: 0, next_offset: null, total_chars: 12 } },
    refused: { name: "read", args: { document: "none.md" }, code: "DOCUMENT_NOT_FOUND" },
    unanswered: { name: "read", args: { document: "slow.txt" } },
    dispose: () => Promise.resolve(folder.remove()),
  });
});

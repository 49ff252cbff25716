import { afterEach, describe, expect, test } from "vitest";
import { createTableDocumentsSource } from "../documents-source.ts";
import type { TableDocumentsOptions } from "../documents-options.ts";
import { callTool } from "../fixtures/test-documents.ts";
import type { DocumentPage, FoundPassages } from "../fixtures/test-documents.ts";
import type { DocumentRow } from "./document-table.ts";

const row = (id: number, text: string): DocumentRow => ({ document: `notes/${id}`, title: `Note ${id}`, sections: [{ heading: "text", text }] });
let [rows, reads, isClosed, fails]: [DocumentRow[], number, boolean, boolean] = [[], 0, false, false];
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  [reads, isClosed, fails] = [0, false, false];
});

function open(options: Partial<TableDocumentsOptions> = {}) {
  const source = createTableDocumentsSource({
    namespace: "notes",
    cacheKey: "notes",
    refreshMs: 0,
    rows: {
      label: "the table notes",
      async *read() {
        reads += 1;
        for (let at = 0; at < rows.length; at += 2) {
          yield await Promise.resolve(rows.slice(at, at + 2));
          if (fails) throw new Error("the connection is gone");
        }
      },
      close: () => Promise.resolve(void (isClosed = true)),
    },
    ...options,
  });
  closing.push(() => source.close());
  const search = async (query: string): Promise<readonly string[]> => (await callTool<FoundPassages>(source, "search", { query })).passages.map(({ document }) => document);
  return { source, search };
}

describe("rows of a table as documents", () => {
  test("are searched and read, and follow the table", async () => {
    rows = [row(1, "red kettle"), row(2, "blue kettle"), row(3, "green lamp")];
    const { source, search } = open();
    expect((await search("kettle")).toSorted()).toEqual(["notes/1", "notes/2"]);
    expect(await callTool<DocumentPage>(source, "read", { document: "notes/3" })).toMatchObject({ title: "Note 3", text: expect.stringContaining("green lamp") as string });
    rows = [row(1, "red cup"), row(3, "green lamp"), row(4, "old kettle")];
    expect(await search("kettle")).toEqual(["notes/4"]);
  });

  test("are not read again sooner than they may be", async () => {
    rows = [row(1, "red kettle")];
    const { search } = open({ refreshMs: 60_000 });
    await search("kettle");
    await search("kettle");
    expect(reads).toBe(1);
  });

  test("are no more than they may be, which is told, and a reading that breaks off removes nothing", async () => {
    rows = Array.from({ length: 5 }, (_, index) => row(index, "kettle"));
    const { source, search } = open({ maxFiles: 4 });
    expect(await search("kettle")).toHaveLength(4);
    expect((await source.list(new AbortController().signal)).problems).toEqual([{ message: "only the first 4 rows are searched (maxFiles)" }]);
    fails = true;
    await expect(search("kettle")).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE", message: expect.stringContaining("its table or its index cannot be read") as string });
    expect(source.state).toMatchObject({ kind: "down", reason: expect.stringContaining("the connection is gone") as string });
    fails = false;
    expect(await search("kettle")).toHaveLength(4);
  });

  test("are closed with their source, opened or not", async () => {
    const { source } = open();
    await source.close();
    expect(isClosed).toBe(true);
  });
});

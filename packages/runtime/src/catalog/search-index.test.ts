import { existsSync, readFileSync } from "node:fs";
import type { JsonSchema } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createSearchIndex, words } from "./search-index.ts";
import type { SearchableTool } from "./search-index.ts";

const sets = new URL("../../../../../shared/data/retrieval/", import.meta.url);

/** nDCG@10 of a plain BM25 (name×3 + description + namespace + parameter names) on each set; we must not be worse. */
const plainBm25 = { "azure-mcp": 87.0, livemcpbench: 36.9, "mcpproxy-golden": 65.1, "bfcl-pool": 62.3, "restbench-tmdb": 47.7, "restbench-spotify": 67.5 };

interface ToolRow {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly namespace?: string;
  readonly namespaceDescription?: string;
  readonly inputSchema?: JsonSchema;
  readonly parameters?: readonly { readonly name: string | null; readonly description: string | null }[];
}

interface QueryRow {
  readonly query: string;
  readonly relevant: readonly string[];
  readonly grades?: Readonly<Record<string, number>>;
}

function readRows<Row>(set: string, file: string): Row[] {
  const lines = readFileSync(new URL(`${set}/${file}`, sets), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Row);
}

function searchable(row: ToolRow): SearchableTool {
  const properties = (row.parameters ?? []).filter(({ name }) => name !== null).map(({ name, description }) => [name, { description: description ?? "" }]);
  const input = row.inputSchema ?? { type: "object", properties: Object.fromEntries(properties) as Record<string, unknown> };
  return {
    name: row.id,
    namespace: row.namespace ?? "",
    purpose: row.namespaceDescription,
    spec: { name: row.name, description: row.description ?? "", input, effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [] },
  };
}

/** nDCG@10 with gain 2^grade - 1 (grade 1 where a set has none), in percent. */
function ndcgAt10(ranked: readonly string[], { relevant, grades }: QueryRow): number {
  const gain = (id: string): number => 2 ** (grades?.[id] ?? (relevant.includes(id) ? 1 : 0)) - 1;
  const discounted = (gains: readonly number[]): number => gains.slice(0, 10).reduce((sum, one, index) => sum + one / Math.log2(index + 2), 0);
  const ideal = discounted(relevant.map(gain).sort((a, b) => b - a));
  return ideal === 0 ? 0 : (100 * discounted(ranked.map(gain))) / ideal;
}

describe("createSearchIndex", () => {
  const row = (name: string, description = "", more: Partial<ToolRow> = {}): SearchableTool => searchable({ id: name, name, description, ...more });

  test("finds a tool by name, situation, tag, namespace and nested parameter", () => {
    const issue = row("open_ticket", "Opens one");
    const tools = [
      { ...issue, namespace: "helpdesk", purpose: "Support desk", spec: { ...issue.spec, whenToUse: "A customer complains", tags: ["crm"] } },
      row("send", "Sends", { inputSchema: { type: "object", properties: { mail: { type: "object", properties: { recipient: { description: "Addressee" } } } } } }),
    ];
    const index = createSearchIndex(tools);
    for (const query of ["tickets", "customer complaint?? complains", "crm", "helpdesk", "support"]) expect(index.search(query)[0]?.name).toBe("open_ticket");
    for (const query of ["recipient", "addressee", "mail"]) expect(index.search(query).map(({ name }) => name)).toEqual(["send"]);
  });

  test("finds other forms of a verb and misspelt words", () => {
    const index = createSearchIndex([row("delete_record", "Removes a record"), row("create_issue", "Opens an issue")]);
    expect(index.search("deleting").map(({ name }) => name)).toEqual(["delete_record"]);
    expect(index.search("isssue").map(({ name }) => name)).toEqual(["create_issue"]);
  });

  test("orders equal scores by name and answers an empty or foreign query with nothing", () => {
    const index = createSearchIndex([row("b_thing"), row("a_thing"), row("c_thing")]);
    expect(index.search("thing").map(({ name }) => name)).toEqual(["a_thing", "b_thing", "c_thing"]);
    expect([index.search(""), index.search("the of"), index.search("qqqqqq"), index.search("__proto__ constructor")]).toEqual([[], [], [], []]);
  });

  // A word of this length was compared letter by letter with a matrix of its square: gigabytes, and the host stood still.
  test("a query of any length costs what a short one does", () => {
    const index = createSearchIndex([row("a_thing")]);
    expect(index.search("x".repeat(1_000_000))).toEqual([]);
    expect(index.search(`thing ${"x".repeat(1_000_000)}`).map(({ name }) => name)).toEqual(["a_thing"]);
  });

  test.skipIf(!existsSync(sets)).each(Object.entries(plainBm25))("ranks %s at least as well as a plain BM25 (nDCG@10 %d; skipped without ../shared/data/retrieval)", (set, floor) => {
    const index = createSearchIndex(readRows<ToolRow>(set, "tools.jsonl").map(searchable));
    const queries = readRows<QueryRow>(set, "queries.jsonl");
    const total = queries.reduce((sum, query) => sum + ndcgAt10(index.search(query.query).map(({ name }) => name), query), 0);
    const mean = Math.round((10 * total) / queries.length) / 10;
    console.info(`search ${set}: nDCG@10 ${mean} (plain BM25 ${floor})`);
    expect(mean).toBeGreaterThanOrEqual(floor);
  }, 300_000);
});

describe("words", () => {
  test("splits humps, separators and scripts without spaces, makes plurals singular, leaves function words out", () => {
    expect(words("listOpenIssues_v2/HTTPServer")).toEqual(["list", "open", "issue", "v2", "http", "server"]);
    expect(words("Get the user's 3 categories, with addresses")).toEqual(["get", "user", "3", "category", "addresse"]);
    expect(words("必应搜索")).toEqual(["必应", "应搜", "搜索"]);
    expect(words("Straße ÉCOLE")).toEqual(["straße", "école"]);
  });

  test("leaves links out, and reads a text of nothing but their openings once", () => {
    expect(words("see [the page](https://a.example/b_(c)) and [that](local file)")).toEqual(["see", "page"]);
    // Read from every opening to the end, this would take hours.
    expect(words("](".repeat(500_000))).toEqual([]);
  });
});

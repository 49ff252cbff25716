import type { JsonSchema, SourceTool, Tool, ToolContext } from "@callgate/contract";

/** Names of the tools of every folder. */
export type DocumentToolName = "search" | "read" | "list";

export const searchLimit = { default: 8, maximum: 50 } as const;
export const readLimit = { default: 8_000, maximum: 50_000 } as const;
/** Documents of one page of the list. */
export const listedTogether = 200;

const path = { type: "string", minLength: 1, maxLength: 4_096 } as const;
const document = { type: "string", description: "Its path in the folder: what read takes" } as const;
const whole = { type: "integer", minimum: 0 } as const;
const note = { type: "string", description: "There when documents are still being read: what they say is missing here" } as const;

type Declared = Pick<Tool, "description" | "input" | "output" | "errors">;

const notFound = { code: "DOCUMENT_NOT_FOUND", description: "There is no document of this path; list shows those there are" } as const;

const declared: Readonly<Record<DocumentToolName, Declared>> = {
  search: {
    description: "Full-text search over the documents: passages that hold words of the query, the best first. The query is words, not operators. Read on with read({ document, offset }).",
    input: object({ query: { type: "string", minLength: 1, maxLength: 2_000 }, limit: { type: "integer", minimum: 1, maximum: searchLimit.maximum, default: searchLimit.default, description: "Passages at most" }, path: { ...path, description: "Only in this document or folder" } }, ["query"]),
    output: object({
      passages: { type: "array", items: object({ document, title: { type: "string" }, heading: { type: "string", description: "The headings it stands under, a page, or rows of a table" }, passage: { type: "string" }, score: { type: "number", description: "Higher fits better; comparable within this answer only" }, offset: { ...whole, description: "Where it begins in the document" } }, ["document", "title", "passage", "score", "offset"]) },
      note,
    }, ["passages"]),
    errors: [],
  },
  read: {
    description: "Text of one document, page by page: read({ document, offset: next_offset }) goes on until next_offset is null.",
    input: object({ document: { ...path, description: "As search and list give it" }, offset: { ...whole, default: 0 }, limit: { type: "integer", minimum: 1, maximum: readLimit.maximum, default: readLimit.default, description: "Characters at most" } }, ["document"]),
    output: object({ document, title: { type: "string" }, text: { type: "string" }, offset: whole, next_offset: { type: ["integer", "null"] }, total_chars: whole }, ["document", "title", "text", "offset", "next_offset", "total_chars"]),
    errors: [notFound, { code: "DOCUMENT_UNREADABLE", description: "It is there, but no text could be made of it" }],
  },
  list: {
    description: "The documents there are, by path. Goes on with { cursor } until cursor is null.",
    input: object({ path: { ...path, description: "Only in this folder" }, cursor: { type: ["string", "null"], maxLength: 4_096, description: "From the page before" } }, []),
    output: object({
      documents: { type: "array", items: object({ document, title: { type: "string" }, bytes: whole, chars: { ...whole, description: "Of its text" }, modified: { type: "string", description: "ISO 8601" }, problem: { type: "string", description: "Why it cannot be read, or not all of it" } }, ["document", "title", "bytes", "chars", "modified"]) },
      cursor: { type: ["string", "null"] },
      note,
    }, ["documents", "cursor"]),
    errors: [],
  },
};

function object(properties: Readonly<Record<string, unknown>>, required: readonly string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The tools of a folder. All read, and what they answer is untrusted: it is what somebody wrote into a file. */
export function documentTools(timeoutMs: number, call: (name: DocumentToolName, args: unknown, context: ToolContext) => Promise<unknown>): readonly SourceTool[] {
  return (["search", "read", "list"] as const).map((name) => ({
    claimed: false,
    tool: { name, ...declared[name], effect: "read", tags: [], permissions: [], labels: ["untrusted"], version: "1.0.0", timeoutMs, examples: [], handler: (args, context) => call(name, args, context) },
  }));
}

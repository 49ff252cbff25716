import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

const patterns = z.array(z.string().min(1));

const tableSchema = z.strictObject({
  database: z.string().min(1).describe("Key of the sql block where the database is. Its source may be disabled"),
  name: z.string().min(1).describe("Of the table or view, with its schema where that is not the default"),
  text: z.array(z.string().min(1)).min(1).describe("Columns whose text is searched, in their order"),
  title: z.string().min(1).optional().describe("Column of the title. Default: the name of the table and the key"),
  key: z.array(z.string().min(1)).min(1).optional().describe("Columns that name a row. Default: its primary key"),
  refreshMs: z.int().min(1_000).max(86_400_000).optional().describe("The rows are not read again sooner. Default 60000"),
});

export const documentsSchema = z
  .strictObject({
    folder: z.string().min(1).optional().describe("Folder of the documents, beside this file. Markdown, text, HTML, PDF, Word (docx) and tables (csv, tsv) in it are read"),
    table: tableSchema.optional().describe("A table whose rows are the documents, in place of a folder"),
    include: patterns.optional().describe('Only these files, as patterns from the folder on: ["**/*.md"]. Default: all of a format that can be read'),
    exclude: patterns.optional().describe("Not these. Never read, whatever is included: what begins with a dot, node_modules, keys and exported credentials"),
    maxFiles: z.int().min(1).max(1_000_000).optional().describe("Documents (rows of a table) at most; the rest is left out and told. Default 20000"),
    maxFileBytes: z.int().min(1).max(1e9).optional().describe("A larger file is not read. Default 32 MiB"),
    maxTextChars: z.int().min(1_000).max(50_000_000).optional().describe("Text of one document; what is beyond is left out and told. Default 2000000"),
    readTimeoutMs: z.int().min(100).max(3_600_000).optional().describe("Time to make text of one file. Default 30000"),
    readMemoryMiB: z.int().min(64).max(16_384).optional().describe("Memory to make text of one file. Default 512"),
    waitMs: z.int().min(0).max(600_000).optional().describe("How long a search waits for files that are being read before it answers with those that have been. Default 10000"),
    ...sourceOptionKeys,
  })
  .refine(({ folder, table }) => (folder === undefined) !== (table === undefined), { error: "needs either folder or table" });

export type DocumentsConfig = z.infer<typeof documentsSchema>;

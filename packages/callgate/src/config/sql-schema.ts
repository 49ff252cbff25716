import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);

const namedQuery = z.strictObject({
  sql: z.string().min(1).describe("One statement; :name stands where the value of a parameter belongs"),
  description: z.string().min(1).describe("For the model: what it gives, and when to use it"),
  params: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "is of letters, digits and _"), z.union([z.enum(["string", "number", "integer", "boolean"]), jsonSchema])).optional().describe('Types of all its parameters, as a word or a JSON Schema: { "customer_id": "integer" }'),
  effect: z.enum(["read", "write", "destructive"]).optional().describe("What it does. Default read: it then runs where the database refuses to write"),
});

export const sqlSchema = z
  .strictObject({
    url: z
      .string()
      .regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as env:DATABASE_URL: a URL with a password does not belong into this file")
      .optional()
      .describe("A reference to the URL of a database: postgres:// or mysql://. Either this or file"),
    file: z.string().min(1).optional().describe("A SQLite database beside this file"),
    readOnly: z.boolean().optional().describe("No tool of it writes. Default false"),
    schemas: z.array(z.string().min(1)).min(1).optional().describe("Schemas (databases of MySQL) whose tables become tools. Default: those that need no schema before their names"),
    queries: z.record(z.string().min(1), namedQuery).optional().describe("Statements of your own that become tools, by name"),
    idempotencyTable: z.string().min(1).optional().describe("A table that keeps the keys of writes, so that one that is repeated is one effect; made where it is not there. Default: none"),
    statementTimeoutMs: z.int().min(100).max(86_400_000).optional().describe("A statement is stopped on the server after this. Default 30000"),
    connectTimeoutMs: z.int().min(100).max(600_000).optional().describe("Default 10000"),
    maxConnections: z.int().min(1).max(1_000).optional().describe("Connections at once. Default 5; 3 for SQLite, where each is a process"),
    pageRows: z.int().min(1).max(10_000).optional().describe("Rows of a page where a call does not say. Default 1000"),
    maxPageBytes: z.int().min(10_000).max(1e9).optional().describe("A page ends before it is larger; a cell that alone is larger is an error. Default 8 MiB"),
    cursorIdleMs: z.int().min(1_000).max(86_400_000).optional().describe("How long a cursor waits to be read on. Default 60000"),
    ...sourceOptionKeys,
  })
  .refine((one) => (one.url === undefined) !== (one.file === undefined), { error: "needs either url or file" });

export type SqlConfig = z.infer<typeof sqlSchema>;

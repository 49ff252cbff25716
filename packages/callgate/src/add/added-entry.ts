import type { WrittenServer } from "../clients/written-server.ts";

/** The blocks of the configuration that hold sources. */
export type SourceBlock = "mcpServers" | "openapi" | "graphql" | "sql";

/** What may be written: a source as the configuration says it. */
export type AddedEntry =
  | { readonly block: "mcpServers"; readonly value: WrittenServer & { readonly trusted?: true } }
  | { readonly block: "openapi"; readonly value: { readonly document: string; readonly auth?: string; readonly trusted?: true } }
  | { readonly block: "graphql"; readonly value: { readonly endpoint: string; readonly auth?: string; readonly trusted?: true } }
  | { readonly block: "sql"; readonly value: { readonly url?: string; readonly file?: string; readonly readOnly?: true } };

export const sourceKinds = ["mcp", "openapi", "graphql", "sql"] as const;

export type SourceKind = (typeof sourceKinds)[number];

export const blockOf: Readonly<Record<SourceKind, SourceBlock>> = { mcp: "mcpServers", openapi: "openapi", graphql: "graphql", sql: "sql" };

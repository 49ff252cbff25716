import { buildClientSchema, buildSchema } from "graphql";
import type { GraphQLSchema, IntrospectionQuery } from "graphql";

/** Tokens of a schema; that of GitHub has 120,000. */
const maxTokens = 2_000_000;

/**
 * A schema from its text: SDL, or the JSON of an introspection, with or without the `data` around it.
 *
 * Errors: `Error` that says what is wrong.
 */
export function readSchema(text: string): GraphQLSchema {
  if (!text.trimStart().startsWith("{")) return buildSchema(text, { assumeValidSDL: false, maxTokens });
  const parsed = JSON.parse(text) as { readonly data?: unknown; readonly __schema?: unknown } | null;
  const introspection = (parsed?.__schema === undefined ? parsed?.data : parsed) as IntrospectionQuery | null | undefined;
  if (introspection?.__schema === undefined) throw new Error("it is JSON, but no answer to an introspection: it has no __schema");
  return buildClientSchema(introspection);
}

import type { SchemaDocument } from "../schema/schema-document.ts";
import type { TypeNames } from "./type-names.ts";
import type { TypeNode } from "./type-node.ts";

/** The six JSON types, and integer as the narrower number. */
export type JsonKind = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** One conversion of one document; named types collect in `names`. */
export interface Conversion {
  readonly document: SchemaDocument;
  readonly names: TypeNames;
  /** Keeps the named types of two documents of one module apart. */
  readonly scope: string;
  /** The type of a value that `schema` accepts, given that its JSON type is one of `kinds`. */
  convert(schema: unknown, kinds?: readonly JsonKind[]): TypeNode;
}

import type { JsonSchema } from "@callgate/contract";
import { isEnumType } from "graphql";
import type { GraphQLLeafType } from "graphql";

/** Custom scalars that every service writes as texts. */
const textScalars: ReadonlySet<string> = new Set(["Date", "DateTime", "URI", "URL", "UUID", "HTML", "EmailAddress"]);

/** The schema of a value without parts. A scalar that only its service knows is anything. */
export function leafSchema(type: GraphQLLeafType): JsonSchema {
  if (isEnumType(type)) return { type: "string", enum: type.getValues().map(({ name }) => name) };
  switch (type.name) {
    case "Int":
      return { type: "integer" };
    case "Float":
      return { type: "number" };
    case "Boolean":
      return { type: "boolean" };
    case "String":
    case "ID":
      return { type: "string" };
    default:
      return textScalars.has(type.name) ? { type: "string" } : {};
  }
}

/** The same value, or none. */
export function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema === "boolean" || Object.keys(schema).length === 0) return schema;
  const { type, enum: values } = schema;
  if (typeof type !== "string" || schema["properties"] !== undefined) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [type, "null"], ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}) };
}

/** Longest description of a part of a schema. */
const maxDescriptionChars = 240;

/** A schema with what its service says of it, in one line. */
export function described(schema: JsonSchema, description: string | null | undefined): JsonSchema {
  const line = (description ?? "").replace(/\s+/g, " ").trim();
  if (line === "" || typeof schema === "boolean") return schema;
  return { ...schema, description: line.length <= maxDescriptionChars ? line : `${line.slice(0, maxDescriptionChars - 1).toWellFormed().trimEnd()}…` };
}

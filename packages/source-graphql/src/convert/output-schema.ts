import type { JsonSchema } from "@callgate/contract";
import { isAbstractType, isCompositeType, isLeafType, isListType, isNonNullType, isUnionType } from "graphql";
import type { GraphQLCompositeType, GraphQLField, GraphQLOutputType, GraphQLSchema } from "graphql";
import type { Selection } from "./default-selection.ts";
import { described, leafSchema, orNull } from "./scalar-schema.ts";

interface Writing {
  readonly schema: GraphQLSchema;
  /** Types whose fields are there only where a call asks for them. */
  readonly met: Map<string, GraphQLCompositeType>;
  leftChars: number;
}

/** Characters of JSON of one tool's output; what is beyond is left open. */
const maxOutputChars = 24 * 1024;

/**
 * The schema of what a field gives. What is selected by default is always there; any other field is optional, because a
 * call may ask for it. Types are definitions, so that they may hold themselves.
 */
export function outputSchema(type: GraphQLOutputType, selection: Selection | undefined, schema: GraphQLSchema): JsonSchema {
  const writing: Writing = { schema, met: new Map(), leftChars: maxOutputChars };
  const written = typeSchema(type, selection, writing);
  const definitions = new Map<string, JsonSchema>();
  for (const [name, met] of writing.met) definitions.set(name, writing.leftChars > 0 ? objectSchema(met, undefined, writing) : {});
  return definitions.size === 0 || typeof written === "boolean" ? written : { ...written, $defs: Object.fromEntries(definitions) };
}

function typeSchema(type: GraphQLOutputType, selection: Selection | undefined, writing: Writing): JsonSchema {
  if (isNonNullType(type)) return bareSchema(type.ofType, selection, writing);
  return orNull(bareSchema(type, selection, writing));
}

function bareSchema(type: GraphQLOutputType, selection: Selection | undefined, writing: Writing): JsonSchema {
  if (isListType(type)) return { type: "array", items: typeSchema(type.ofType, selection, writing) };
  if (isLeafType(type)) return leafSchema(type);
  if (!isCompositeType(type)) return {};
  if (selection !== undefined) return objectSchema(type, selection, writing);
  writing.met.set(type.name, type);
  return { $ref: `#/$defs/${type.name}` };
}

function objectSchema(type: GraphQLCompositeType, selection: Selection | undefined, writing: Writing): JsonSchema {
  if (isUnionType(type)) {
    const members = writing.schema.getPossibleTypes(type).map((member) => {
      const fragment = selection?.fragments.find((one) => one.type === member);
      return named(objectSchema(member, fragment, writing), [member.name], selection !== undefined);
    });
    return members.length === 0 ? {} : { anyOf: members };
  }
  const selected = new Map(selection?.fields.map((one) => [one.field.name, one]));
  const properties = Object.values(type.getFields()).map((field) => [field.name, fieldSchema(field, selected.get(field.name)?.selection, writing)] as const);
  const written = { type: "object", properties: Object.fromEntries(properties), ...(selected.size === 0 ? {} : { required: [...selected.keys()] }) };
  return isAbstractType(type) ? named(written, writing.schema.getPossibleTypes(type).map(({ name }) => name), selection !== undefined) : written;
}

function fieldSchema(field: GraphQLField, selection: Selection | undefined, writing: Writing): JsonSchema {
  if (writing.leftChars <= 0) return {};
  const written = described(typeSchema(field.type, selection, writing), field.description);
  writing.leftChars -= JSON.stringify(written).length + field.name.length + 4;
  return written;
}

/** Which type it is stands in `__typename`. */
function named(schema: JsonSchema, names: readonly string[], isSelected: boolean): JsonSchema {
  if (typeof schema === "boolean") return schema;
  const [only] = names;
  const tag = names.length === 1 ? { const: only } : names.length === 0 || names.length > 50 ? { type: "string" } : { enum: names };
  const required = [...(isSelected ? ["__typename"] : []), ...((schema["required"] as readonly string[] | undefined) ?? [])];
  return { ...schema, properties: { __typename: tag, ...(schema["properties"] as object) }, ...(required.length === 0 ? {} : { required }) };
}

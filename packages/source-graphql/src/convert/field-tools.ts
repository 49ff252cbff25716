import type { Effect, JsonSchema } from "@callgate/contract";
import { getNamedType, isCompositeType, isUnionType } from "graphql";
import type { GraphQLCompositeType, GraphQLField, GraphQLObjectType, GraphQLSchema } from "graphql";
import type { RootField } from "../request/field-document.ts";
import { defaultSelection } from "./default-selection.ts";
import { inputProperties } from "./input-schema.ts";
import { outputSchema } from "./output-schema.ts";

/** The tool of one field of the query or mutation type. */
export interface FieldTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly effect: Effect;
  readonly deprecated?: string;
  readonly root: RootField;
}

/** The tool that takes a whole query. A field of that name is another one's. */
export const rawQueryName = "query";

/**
 * A tool for each field of the query type and of the mutation type. Fields of both that share a name are told apart by a
 * word before it: `query_user`, `mutation_user`.
 *
 * @param depth levels of objects within objects that a call asks for by itself
 */
export function fieldTools(schema: GraphQLSchema, depth: number): readonly FieldTool[] {
  const fields = [...rootFields(schema.getQueryType(), "query"), ...rootFields(schema.getMutationType(), "mutation")];
  const count = Map.groupBy(fields, ({ field }) => field.name);
  return fields.map(({ field, operation }) => {
    const isShared = field.name === rawQueryName || (count.get(field.name)?.length ?? 0) > 1;
    return fieldTool(isShared ? `${operation}_${field.name}` : field.name, { field, operation, schema, depth });
  });
}

interface RootFieldOf {
  readonly field: GraphQLField;
  readonly operation: RootField["operation"];
}

function rootFields(type: GraphQLObjectType | null | undefined, operation: RootField["operation"]): readonly RootFieldOf[] {
  return Object.values(type?.getFields() ?? {}).map((field) => ({ field, operation }));
}

function fieldTool(name: string, { field, operation, schema, depth }: RootFieldOf & { readonly schema: GraphQLSchema; readonly depth: number }): FieldTool {
  const type = getNamedType(field.type);
  const selection = isCompositeType(type) ? defaultSelection(type, { schema, depth, withLists: operation === "mutation" && !hasId(type) }) : undefined;
  const selectArgument = selection === undefined ? undefined : freeName(field);
  const { properties, required, definitions } = inputProperties(field.args);
  const deprecated = field.deprecationReason ?? undefined;
  return {
    name,
    description: descriptionOf(field, operation),
    input: {
      type: "object",
      properties: { ...properties, ...(selectArgument === undefined ? {} : { [selectArgument]: { type: "string", description: selectWords } }) },
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
      ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
    },
    output: outputSchema(field.type, selection, schema),
    effect: operation === "query" ? "read" : "write",
    ...(deprecated === undefined ? {} : { deprecated }),
    root: { operation, field, ...(selection === undefined ? {} : { selection }), ...(selectArgument === undefined ? {} : { selectArgument }) },
  };
}

/** What has an id is a thing with lists of others; what has none is the answer itself, and its lists (of errors, of what was changed) are part of it. */
function hasId(type: GraphQLCompositeType): boolean {
  return !isUnionType(type) && Object.hasOwn(type.getFields(), "id");
}

const selectWords = "Further fields of the result, beside those that always come, as GraphQL writes them: owner { login } topics(first: 5) { nodes { name } }";

function freeName(field: GraphQLField): string {
  let name = "select";
  while (field.args.some((arg) => arg.name === name)) name += "_";
  return name;
}

const maxDescriptionChars = 1_000;

function descriptionOf(field: GraphQLField, operation: string): string {
  const args = field.args.map(({ name, type }) => `${name}: ${String(type)}`).join(", ");
  const signature = `${operation} ${field.name}${args === "" ? "" : `(${args})`}: ${String(field.type)}`;
  const said = (field.description ?? "").trim();
  const text = said.length <= maxDescriptionChars ? said : `${said.slice(0, maxDescriptionChars - 1).toWellFormed().trimEnd()}…`;
  const line = signature.length <= 300 ? signature : `${operation} ${field.name}: ${String(field.type)}`;
  return text === "" ? line : `${text}\n\n${line}`;
}

import type { JsonSchema } from "@callgate/contract";
import { isInputObjectType, isLeafType, isListType, isNonNullType, isRequiredArgument, isRequiredInputField } from "graphql";
import type { GraphQLArgument, GraphQLInputObjectType, GraphQLInputType } from "graphql";
import { described, leafSchema, orNull } from "./scalar-schema.ts";

/** The input of a tool, as an object schema with its definitions. */
export interface InputProperties {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

/** Arguments of a field as properties. Input objects are definitions, so that they may hold themselves. */
export function inputProperties(args: readonly GraphQLArgument[]): InputProperties {
  const met = new Map<string, GraphQLInputObjectType>();
  const properties = args.map((arg) => [arg.name, described(schemaOf(arg.type, met), arg.description)] as const);
  const definitions = new Map<string, JsonSchema>();
  // Grows while it is walked: definitions refer to definitions.
  for (const [name, type] of met) definitions.set(name, objectSchema(type, met));
  return { properties: Object.fromEntries(properties), required: args.filter(isRequiredArgument).map(({ name }) => name), definitions: Object.fromEntries(definitions) };
}

function schemaOf(type: GraphQLInputType, met: Map<string, GraphQLInputObjectType>): JsonSchema {
  if (isNonNullType(type)) return bareSchema(type.ofType, met);
  return orNull(bareSchema(type, met));
}

function bareSchema(type: GraphQLInputType, met: Map<string, GraphQLInputObjectType>): JsonSchema {
  if (isListType(type)) return { type: "array", items: schemaOf(type.ofType, met) };
  if (isLeafType(type)) return leafSchema(type);
  if (!isInputObjectType(type)) return {};
  met.set(type.name, type);
  return { $ref: `#/$defs/${type.name}` };
}

function objectSchema(type: GraphQLInputObjectType, met: Map<string, GraphQLInputObjectType>): JsonSchema {
  const fields = Object.values(type.getFields());
  const required = fields.filter(isRequiredInputField).map(({ name }) => name);
  return described(
    {
      type: "object",
      properties: Object.fromEntries(fields.map((field) => [field.name, described(schemaOf(field.type, met), field.description)])),
      ...(required.length === 0 ? {} : { required }),
      ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
      additionalProperties: false,
    },
    type.description,
  );
}

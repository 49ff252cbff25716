import { isAbstractType, Kind, OperationTypeNode, parseType, print, validate } from "graphql";
import type { DocumentNode, FieldNode, GraphQLField, GraphQLSchema, NameNode, SelectionNode, SelectionSetNode } from "graphql";
import type { Selection } from "../convert/default-selection.ts";
import { parseSelection, placed } from "./parse-selection.ts";
import type { Parsed } from "./parse-selection.ts";

/** A field of the query or mutation type, as a tool calls it. */
export interface RootField {
  readonly operation: "query" | "mutation";
  readonly field: GraphQLField;
  /** Absent for a field without fields. */
  readonly selection?: Selection;
  /** The argument that names further fields; absent likewise. */
  readonly selectArgument?: string;
}

/** What goes to the service. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * The request of a call: every argument is a variable of its own, so that no value becomes part of the text. What was left
 * out is left out, and keeps its default.
 *
 * Refused: further fields that are none of the schema, with what is wrong and where.
 */
export function fieldRequest(root: RootField, args: Readonly<Record<string, unknown>>, schema: GraphQLSchema): Parsed<GraphqlRequest> {
  const more = root.selectArgument === undefined ? undefined : args[root.selectArgument];
  const extra = typeof more === "string" && more.trim() !== "" ? parseSelection(more) : undefined;
  if (extra?.kind === "refused") return extra;
  const document = fieldDocument(root, args, extra?.tree);
  const [error] = extra === undefined ? [] : validate(schema, document, undefined, { maxErrors: 1 });
  if (error !== undefined) return { kind: "refused", message: placed(error) };
  const given = root.field.args.filter(({ name }) => args[name] !== undefined);
  return { kind: "parsed", tree: { query: print(document), variables: Object.fromEntries(given.map(({ name }) => [name, args[name]])) } };
}

function fieldDocument({ operation, field, selection }: RootField, args: Readonly<Record<string, unknown>>, extra: SelectionSetNode | undefined): DocumentNode {
  const given = field.args.filter((arg) => args[arg.name] !== undefined);
  const selections = [...(selection === undefined ? [] : selectionNodes(selection)), ...(extra?.selections ?? [])];
  const root: FieldNode = {
    kind: Kind.FIELD,
    name: nameNode(field.name),
    arguments: given.map(({ name }) => ({ kind: Kind.ARGUMENT, name: nameNode(name), value: { kind: Kind.VARIABLE, name: nameNode(name) } })),
    ...(selections.length === 0 ? {} : { selectionSet: selectionSet(selections) }),
  };
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: operation === "query" ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION,
        variableDefinitions: given.map(({ name, type }) => ({ kind: Kind.VARIABLE_DEFINITION, variable: { kind: Kind.VARIABLE, name: nameNode(name) }, type: parseType(String(type)) })),
        selectionSet: selectionSet([root]),
      },
    ],
  };
}

function selectionNodes({ type, fields, fragments }: Selection): readonly SelectionNode[] {
  return [
    ...(isAbstractType(type) ? [fieldNode("__typename")] : []),
    ...fields.map(({ field, selection }) => fieldNode(field.name, selection === undefined ? undefined : selectionNodes(selection))),
    ...fragments.filter((fragment) => fragment.fields.length > 0).map((fragment): SelectionNode => ({
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(fragment.type.name) },
      selectionSet: selectionSet(fragment.fields.map(({ field }) => fieldNode(field.name))),
    })),
  ];
}

function fieldNode(name: string, selections?: readonly SelectionNode[]): FieldNode {
  return { kind: Kind.FIELD, name: nameNode(name), ...(selections === undefined ? {} : { selectionSet: selectionSet(selections) }) };
}

function selectionSet(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

function nameNode(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

import { getNamedType, getNullableType, isAbstractType, isCompositeType, isInterfaceType, isLeafType, isListType, isRequiredArgument, isUnionType } from "graphql";
import type { GraphQLCompositeType, GraphQLField, GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema } from "graphql";

/** Which fields of a type are asked for without being named. */
export interface Selection {
  readonly type: GraphQLCompositeType;
  /** Of the type itself; `__typename` comes with every type that may be one of several. */
  readonly fields: readonly SelectedField[];
  /** Of a union: what is asked for of each of its types. */
  readonly fragments: readonly Selection[];
}

export interface SelectedField {
  readonly field: GraphQLField;
  /** Of a field with fields. */
  readonly selection?: Selection;
}

export interface SelectionBounds {
  readonly schema: GraphQLSchema;
  /** Levels of objects within objects. Lists of the innermost levels are left out, and pages count as what is on them. */
  readonly depth: number;
  /** Lists within the outermost object as well: what a mutation answers has few, and its errors are one. */
  readonly withLists: boolean;
}

/** Fields of one query that are selected by themselves. */
const maxFields = 120;
const maxUnionTypes = 8;

/**
 * The fields that a call asks for where it names none: what has no parts, and objects within it to a depth. No field that
 * needs arguments, and none that is deprecated. It is what a person would write first, and cheap for the service.
 */
export function defaultSelection(type: GraphQLCompositeType, bounds: SelectionBounds): Selection {
  const budget = { left: maxFields };
  return select(type, bounds, budget);
}

interface Budget {
  left: number;
}

function select(type: GraphQLCompositeType, bounds: SelectionBounds, budget: Budget): Selection {
  if (isUnionType(type)) {
    const fragments = bounds.schema.getPossibleTypes(type).slice(0, maxUnionTypes).map((member) => ({ type: member, fields: leafFields(member, budget), fragments: [] }));
    return { type, fields: [], fragments: withoutConflicts(fragments) };
  }
  const leaves = leafFields(type, budget);
  const objects = isPage(type) || bounds.depth > 1 ? objectFields(type, bounds, budget) : [];
  return { type, fields: [...leaves, ...objects], fragments: [] };
}

function usable(type: GraphQLObjectType | GraphQLInterfaceType): readonly GraphQLField[] {
  return Object.values(type.getFields()).filter((field) => !field.args.some(isRequiredArgument) && (field.deprecationReason ?? undefined) === undefined);
}

function leafFields(type: GraphQLObjectType | GraphQLInterfaceType, budget: Budget): readonly SelectedField[] {
  const leaves = usable(type).filter((field) => isLeafType(getNamedType(field.type))).slice(0, Math.max(0, budget.left));
  budget.left -= leaves.length;
  return leaves.map((field) => ({ field }));
}

function objectFields(type: GraphQLObjectType | GraphQLInterfaceType, bounds: SelectionBounds, budget: Budget): readonly SelectedField[] {
  const page = isPage(type);
  const inner = { ...bounds, depth: page ? bounds.depth : bounds.depth - 1, withLists: false };
  const fields = usable(type).filter((field) => isWanted(field, { page, hasNodes: Object.hasOwn(type.getFields(), "nodes"), withLists: bounds.withLists }));
  return fields.flatMap((field): readonly SelectedField[] => {
    const named = getNamedType(field.type);
    if (!isCompositeType(named) || budget.left <= 0) return [];
    // What tells the next page is leaves only, and so is a list's item where nothing is left to go down to.
    const selection = select(named, inner, budget);
    return selection.fields.length === 0 && selection.fragments.length === 0 && !isAbstractType(named) ? [] : [{ field, selection }];
  });
}

function isWanted(field: GraphQLField, { page, hasNodes, withLists }: { readonly page: boolean; readonly hasNodes: boolean; readonly withLists: boolean }): boolean {
  if (!isCompositeType(getNamedType(field.type))) return false;
  // Nodes and edges say the same twice.
  if (page) return !(hasNodes && field.name === "edges");
  const isMany = isListType(getNullableType(field.type)) || isPage(getNamedType(field.type));
  return !isMany || withLists;
}

/** Relay's connection, or an edge of it: a page of a list, not a thing of its own. */
function isPage(type: unknown): boolean {
  if (!isCompositeType(type as GraphQLCompositeType)) return false;
  const { name } = type as GraphQLCompositeType;
  if (isUnionType(type) || isInterfaceType(type)) return false;
  const fields = (type as GraphQLObjectType).getFields();
  return (name.endsWith("Connection") && (Object.hasOwn(fields, "nodes") || Object.hasOwn(fields, "edges"))) || (name.endsWith("Edge") && Object.hasOwn(fields, "node"));
}

/** One name with two types in the fragments of one selection is refused by every service; it is asked for nowhere then. */
function withoutConflicts(fragments: readonly Selection[]): readonly Selection[] {
  const types = new Map<string, Set<string>>();
  for (const { field } of fragments.flatMap(({ fields }) => fields)) types.set(field.name, (types.get(field.name) ?? new Set()).add(String(field.type)));
  return fragments.map((fragment) => ({ ...fragment, fields: fragment.fields.filter(({ field }) => types.get(field.name)?.size === 1) }));
}

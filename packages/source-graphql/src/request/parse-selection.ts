import { GraphQLError, Kind, parse, visit } from "graphql";
import type { DocumentNode, OperationDefinitionNode, SelectionSetNode } from "graphql";

/** Bounds of a text that a program wrote: no service would take more, and parsing stays short. */
const maxTokens = 5_000;
const maxChars = 100_000;
const maxDepth = 15;

/** A text of GraphQL as its tree, or why it is none. */
export type Parsed<Tree> = { readonly kind: "parsed"; readonly tree: Tree } | { readonly kind: "refused"; readonly message: string };

/**
 * The fields that a text names: `id owner { login }`. It is parsed on its own, so that nothing in it reaches beyond the
 * place where it is put.
 */
export function parseSelection(text: string): Parsed<SelectionSetNode> {
  const parsed = parseText(`{${text}\n}`);
  if (parsed.kind === "refused") return parsed;
  const [only, second] = parsed.tree.definitions;
  if (only?.kind !== Kind.OPERATION_DEFINITION || second !== undefined) return refused("name fields only, such as: id owner { login }");
  return { kind: "parsed", tree: only.selectionSet };
}

/** A whole document of which every operation is a query. What it does is told by its parts, not by its words. */
export function parseQuery(text: string): Parsed<DocumentNode> {
  const parsed = parseText(text);
  if (parsed.kind === "refused") return parsed;
  const operations = parsed.tree.definitions.filter((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION);
  const other = parsed.tree.definitions.find((one) => one.kind !== Kind.OPERATION_DEFINITION && one.kind !== Kind.FRAGMENT_DEFINITION);
  if (other !== undefined || operations.length === 0) return refused("a query is needed: query { ... }, and fragments of it");
  const changing = operations.find(({ operation }) => String(operation) !== "query");
  return changing === undefined ? parsed : refused(`only queries are sent here, and this holds a ${changing.operation}; mutations are tools of their own`);
}

function parseText(text: string): Parsed<DocumentNode> {
  if (text.length > maxChars) return refused(`it has ${text.length} characters, the bound is ${maxChars}`);
  try {
    const tree = parse(text, { maxTokens });
    return depthOf(tree) <= maxDepth ? { kind: "parsed", tree } : refused(`its fields are nested deeper than ${maxDepth}`);
  } catch (fault) {
    return refused(fault instanceof GraphQLError ? placed(fault) : "it cannot be parsed");
  }
}

function depthOf(tree: DocumentNode): number {
  let [depth, deepest] = [0, 0];
  visit(tree, {
    SelectionSet: {
      enter: () => {
        deepest = Math.max(deepest, ++depth);
      },
      leave: () => {
        depth--;
      },
    },
  });
  return deepest;
}

/** What is wrong, and where in the text. */
export function placed(error: GraphQLError): string {
  const [place] = error.locations ?? [];
  return place === undefined ? error.message : `${error.message} (line ${place.line}, column ${place.column})`;
}

function refused(message: string): { readonly kind: "refused"; readonly message: string } {
  return { kind: "refused", message };
}

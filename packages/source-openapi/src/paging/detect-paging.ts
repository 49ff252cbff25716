import type { JsonSchema } from "@callgate/contract";
import type { HttpOperation } from "../http-operation.ts";
import { isPlainObject } from "../request/plain-object.ts";
import type { PagingRule } from "./paging-rule.ts";

export interface PagingClues {
  readonly operation: HttpOperation;
  /** Of the tool. */
  readonly input: JsonSchema;
  /** Of the body, where the document says it. */
  readonly output: JsonSchema | undefined;
}

type Node = Readonly<Record<string, unknown>>;

const cursorArguments = /^(?:cursor|next_?cursor|page_?token|next_?(?:page_?)?token|starting_?after|start_?after|after|marker|continuation_?token|page\[(?:cursor|after)\])$/i;
const cursorAnswers = /^(?:next_?cursor|next_?(?:page_?)?token|end_?cursor|next_?marker|continuation_?token|next_?page|cursor|after|next)$/i;
const urlAnswers = /^(?:next|next_?(?:page_?)?(?:url|link|uri)|@odata\.nextLink|next_?href)$/i;
const offsetArguments = /^(?:offset|skip|start|start_?(?:at|index)|\$skip|page\[offset\])$/i;
const pageArguments = /^(?:page|page_?(?:number|num|no|index)|page\[number\])$/i;
const sizeArguments = /^(?:limit|per_?page|page_?size|size|count|take|\$top|max_?results|page\[(?:size|limit)\])$/i;
/** Where services put what is not an item. */
const holders = /^(?:meta|metadata|paging|pagination|page_?info|response_metadata|links|_links|cursors|page)$/i;

/**
 * How an operation that reads gives its result in pages, as far as its document tells; undefined where it does not, or where
 * two readings are possible. What it says itself (`x-ms-pageable`, `x-speakeasy-pagination`) comes first, then the next
 * page's URL in a header or in the body, then cursors, then counts.
 */
export function detectPaging({ operation, input, output }: PagingClues): PagingRule | undefined {
  if (operation.method !== "GET" && operation.method !== "QUERY") return undefined;
  const properties = propertiesOf(input, input);
  const query = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.constant === undefined);
  const numbers = query.map(({ argument }) => argument).filter((argument) => isNumeric(input, properties[argument]));
  const argumentOf = (pattern: RegExp): string | undefined => query.find(({ name }) => pattern.test(name))?.argument;
  const said = saidPaging(operation.paging, numbers, argumentOf);
  if (said !== undefined) return said;
  const isTurned = [cursorArguments, offsetArguments, pageArguments].some((pattern) => argumentOf(pattern) !== undefined);
  if (isTurned && operation.responses.some(({ status, headers }) => status.startsWith("2") && headers?.includes("link") === true)) return { kind: "link", numbers };
  if (output === undefined) return undefined;
  const cursor = argumentOf(cursorArguments);
  const next = cursor === undefined ? undefined : findText(output, cursorAnswers);
  if (cursor !== undefined && next !== undefined) return { kind: "cursor", argument: cursor, next };
  const url = isTurned ? findText(output, urlAnswers) : undefined;
  if (url !== undefined) return { kind: "url", next: url, numbers };
  return counted({ output, numbers, argumentOf, properties });
}

interface Counting {
  readonly output: JsonSchema;
  readonly numbers: readonly string[];
  readonly argumentOf: (pattern: RegExp) => string | undefined;
  readonly properties: Node;
}

function counted({ output, numbers, argumentOf, properties }: Counting): PagingRule | undefined {
  const items = itemsIn(output);
  if (items === undefined) return undefined;
  const size = argumentOf(sizeArguments);
  const sized = size !== undefined && numbers.includes(size) ? { size } : {};
  const offset = argumentOf(offsetArguments);
  if (offset !== undefined && numbers.includes(offset)) return { kind: "offset", argument: offset, items, ...sized };
  const page = argumentOf(pageArguments);
  if (page === undefined || !numbers.includes(page)) return undefined;
  const { default: usual, minimum } = nodeOf(output, properties[page]);
  return { kind: "page", argument: page, items, ...sized, first: typeof usual === "number" ? usual : minimum === 0 ? 0 : 1 };
}

function saidPaging(said: unknown, numbers: readonly string[], argumentOf: (pattern: RegExp) => string | undefined): PagingRule | undefined {
  if (!isPlainObject(said)) return undefined;
  const [pageable, speakeasy] = [said["x-ms-pageable"], said["x-speakeasy-pagination"]];
  if (isPlainObject(pageable) && typeof pageable["nextLinkName"] === "string") return { kind: "url", next: `/${pageable["nextLinkName"].replaceAll("~", "~0").replaceAll("/", "~1")}`, numbers };
  if (!isPlainObject(speakeasy) || !isPlainObject(speakeasy["outputs"])) return undefined;
  const { nextCursor, nextUrl } = speakeasy["outputs"];
  const argument = argumentOf(cursorArguments);
  if (typeof nextCursor === "string" && argument !== undefined) return { kind: "cursor", argument, next: pointerOf(nextCursor) };
  return typeof nextUrl === "string" ? { kind: "url", next: pointerOf(nextUrl), numbers } : undefined;
}

/** `$.data.next` as `/data/next`. */
function pointerOf(path: string): string {
  return path.replace(/^\$/, "").replaceAll(/\.|\['?|'?\]/g, "/").replaceAll(/\/+/g, "/").replace(/\/$/, "");
}

/** The one text of that name, at the top or in one of the usual places beside the items. */
function findText(output: JsonSchema, pattern: RegExp): string | undefined {
  const top = propertiesOf(output, output);
  const places: readonly (readonly [string, Node])[] = [["", top], ...Object.entries(top).filter(([name]) => holders.test(name)).map(([name, schema]) => [`/${name}`, propertiesOf(output, schema)] as const)];
  for (const [path, properties] of places) {
    const name = Object.keys(properties).find((one) => pattern.test(one) && isText(output, properties[one]));
    if (name !== undefined) return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return undefined;
}

/** The body itself where it is a list, or its one property that is. */
function itemsIn(output: JsonSchema): string | undefined {
  if (nodeOf(output, output)["type"] === "array") return "";
  const lists = Object.entries(propertiesOf(output, output)).filter(([, schema]) => typesOf(output, schema).includes("array"));
  const [only] = lists;
  return only !== undefined && lists.length === 1 ? `/${only[0].replaceAll("~", "~0").replaceAll("/", "~1")}` : undefined;
}

function isNumeric(root: JsonSchema, schema: unknown): boolean {
  const types = typesOf(root, schema);
  return types.includes("integer") || types.includes("number");
}

function isText(root: JsonSchema, schema: unknown): boolean {
  return typesOf(root, schema).includes("string");
}

function typesOf(root: JsonSchema, schema: unknown): readonly unknown[] {
  const { type, anyOf, oneOf } = nodeOf(root, schema);
  const branches = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : [])) as readonly unknown[];
  return [...[type ?? []].flat(), ...branches.flatMap((branch) => [nodeOf(root, branch)["type"] ?? []].flat())];
}

function propertiesOf(root: JsonSchema, schema: unknown, depth = 0): Node {
  const { properties, allOf } = nodeOf(root, schema);
  const parts = Array.isArray(allOf) && depth < 8 ? allOf.map((part: unknown) => propertiesOf(root, part, depth + 1)) : [];
  return Object.assign({}, ...parts, isPlainObject(properties) ? properties : {}) as Node;
}

/** The schema itself, through references into `$defs`. */
function nodeOf(root: JsonSchema, schema: unknown, depth = 0): Node {
  if (!isPlainObject(schema)) return {};
  const [, name] = typeof schema["$ref"] === "string" ? (/^#\/\$defs\/(.+)$/.exec(schema["$ref"]) ?? []) : [];
  const definitions = typeof root === "object" ? (root as Node)["$defs"] : undefined;
  if (name === undefined || depth > 16 || !isPlainObject(definitions)) return schema;
  return nodeOf(root, definitions[decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")], depth + 1);
}

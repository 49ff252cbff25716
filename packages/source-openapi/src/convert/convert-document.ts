import type { SourceProblem } from "@callgate/contract";
import { entriesOf, isRecord, own, resolved, textOf } from "../document/local-reference.ts";
import type { DocumentObject } from "../document/local-reference.ts";
import type { SecurityScheme } from "../http-operation.ts";
import { convertOperation } from "./convert-operation.ts";
import type { ConvertedTool, OperationToConvert } from "./convert-operation.ts";
import { nameOperations } from "./operation-names.ts";
import { plainLine } from "./plain-text.ts";

/** A document as tools: plain JSON, which the cache keeps. */
export interface ConvertedDocument {
  /** Of what the service says about itself, in one line. */
  readonly purpose: string;
  readonly tools: readonly ConvertedTool[];
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** What is wrong with single operations; the others work. */
  readonly problems: readonly SourceProblem[];
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/** Problems of one operation past this many are counted, not told. */
const maxProblems = 3;

/**
 * Makes a tool of every operation of an OpenAPI 3.1 document (older ones are upgraded before). References lead into the
 * document itself. An operation that cannot be converted is a problem of the listing; nothing throws.
 */
export function convertDocument(document: unknown): ConvertedDocument {
  const problems: SourceProblem[] = [];
  const found = operationsOf(document, problems);
  const names = nameOperations(found.map(({ method, key, operation }) => ({ method, path: key, operationId: own(operation, "operationId") })));
  const tools = found.flatMap((one, index) => {
    const name = names[index] ?? "";
    const own: string[] = [];
    try {
      const tool = convertOperation({ ...one, name }, (message) => own.push(message));
      for (const message of bounded(own)) problems.push({ tool: name, message: `${one.method} ${one.key}: ${message}` });
      return [tool];
    } catch (fault) {
      problems.push({ tool: name, message: `${one.method} ${one.key} could not be converted and is left out: ${fault instanceof Error ? fault.message : String(fault)}` });
      return [];
    }
  });
  return { purpose: purposeOf(document), tools, securitySchemes: securitySchemesOf(document), problems };
}

function bounded(messages: readonly string[]): readonly string[] {
  const distinct = [...new Set(messages)];
  return distinct.length <= maxProblems ? distinct : [...distinct.slice(0, maxProblems), `and ${distinct.length - maxProblems} more of its kind`];
}

type FoundOperation = Omit<OperationToConvert, "name"> & {
  /** The path as it is written: it tells operations apart. */
  readonly key: string;
};

function operationsOf(document: unknown, problems: SourceProblem[]): readonly FoundOperation[] {
  return entriesOf(own(document, "paths")).flatMap(([key, written]) => {
    if (key.startsWith("x-")) return [];
    const pathItem = resolved(document, written);
    if (pathItem === undefined) {
      problems.push({ message: `the path ${plainLine(key, 120)} is left out: it is no object, or its reference leads nowhere` });
      return [];
    }
    const split = splitPath(key);
    return methodsOf(pathItem).flatMap(([method, operation]) => {
      if (isRecord(operation)) return [{ document, pathItem, operation, method, key, ...split }];
      problems.push({ message: `${method} ${plainLine(key, 120)} is left out: it is no object` });
      return [];
    });
  });
}

function methodsOf(pathItem: DocumentObject): readonly (readonly [string, unknown])[] {
  const standard = methods.flatMap((method) => (own(pathItem, method) === undefined ? [] : [[method.toUpperCase(), own(pathItem, method)] as const]));
  return [...standard, ...entriesOf(own(pathItem, "additionalOperations")).map(([method, operation]) => [method.toUpperCase(), operation] as const)];
}

/** Some documents tell operations of one path apart by a fragment, which does not go over the wire, or by a query. */
function splitPath(key: string): Pick<OperationToConvert, "path" | "query" | "queryTemplates"> {
  const [written = ""] = key.split("#");
  const [path = "", query = ""] = written.split("?");
  const pairs = [...new URLSearchParams(query)];
  const templates = pairs.flatMap(([name, value]) => (/^\{[^{}]+\}$/.test(value) ? [[value.slice(1, -1), name] as const] : []));
  return { path: path.startsWith("/") ? path : `/${path}`, query: pairs.filter(([, value]) => !/[{}]/.test(value)), queryTemplates: new Map(templates) };
}

function purposeOf(document: unknown): string {
  const info = own(document, "info");
  const title = textOf(own(info, "title"));
  const [first = ""] = (textOf(own(info, "description")) ?? textOf(own(info, "summary")) ?? "").split(/\n\s*\n|(?<=[.!?])\s/);
  const line = plainLine(first, 160);
  return title === undefined ? line : line === "" || line === title ? plainLine(title, 160) : `${plainLine(title, 80)}: ${line}`;
}

function securitySchemesOf(document: unknown): Readonly<Record<string, SecurityScheme>> {
  const entries = entriesOf(own(own(document, "components"), "securitySchemes")).flatMap(([name, written]) => {
    const scheme = schemeOf(resolved(document, written));
    return scheme === undefined ? [] : [[name, scheme] as const];
  });
  return Object.fromEntries(entries);
}

function schemeOf(written: unknown): SecurityScheme | undefined {
  const place = own(written, "in");
  const name = textOf(own(written, "name"));
  switch (own(written, "type")) {
    case "apiKey":
      return name !== undefined && (place === "query" || place === "header" || place === "cookie") ? { type: "apiKey", in: place, name } : undefined;
    case "http":
      return { type: "http", scheme: (textOf(own(written, "scheme")) ?? "bearer").toLowerCase() };
    case "oauth2": {
      const flows = entriesOf(own(written, "flows"));
      const tokenUrl = flows.map(([, flow]) => textOf(own(flow, "tokenUrl"))).find((url) => url !== undefined);
      return { type: "oauth2", ...(tokenUrl === undefined ? {} : { tokenUrl }), flows: flows.map(([flow]) => flow) };
    }
    case "openIdConnect":
      return { type: "openIdConnect", url: textOf(own(written, "openIdConnectUrl")) ?? "" };
    case "mutualTLS":
      return { type: "mutualTLS" };
    default:
      return undefined;
  }
}

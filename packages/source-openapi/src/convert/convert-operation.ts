import { pagedOutput } from "@callgate/contract";
import type { Effect, JsonObject, JsonSchema, ToolExample, ToolSpec } from "@callgate/contract";
import { entriesOf, itemsOf, own, textOf } from "../document/local-reference.ts";
import type { HttpBody, HttpOperation, SecurityNeed } from "../http-operation.ts";
import { detectPaging } from "../paging/detect-paging.ts";
import type { PagingRule } from "../paging/paging-rule.ts";
import { errorsOf, outputOf, responsesOf } from "./operation-output.ts";
import { parametersOf } from "./parameters.ts";
import type { DeclaredParameter, OperationPlace } from "./parameters.ts";
import { plainText } from "./plain-text.ts";
import { bodyOf } from "./request-body.ts";
import type { DeclaredBody } from "./request-body.ts";
import { createSchemaWriter, withDefinitions, writeWhole } from "./schema-writer.ts";

/** A tool as the cache keeps it: what it declares, and how it is called. */
export interface ConvertedTool {
  readonly spec: OperationSpec;
  readonly operation: HttpOperation;
  /** How its pages follow each other, where the document tells. The tool is `paged` then. */
  readonly paging?: PagingRule;
}

/** The part of a declaration that comes from the document. */
export type OperationSpec = Pick<ToolSpec, "name" | "description" | "input" | "effect" | "tags" | "examples" | "errors"> & Pick<ToolSpec, "title" | "output" | "deprecated" | "sensitive" | "paged">;

export interface OperationToConvert extends OperationPlace {
  readonly name: string;
  readonly method: string;
}

/** Longest description of a tool. */
const maxDescriptionChars = 1_000;
/** Of the schema of one tool's input. What Kubernetes asks for a Deployment, with its descriptions, is about as long. */
const maxInputChars = 64 * 1024;
/** Of its output. Whole graphs of objects are reachable from some answers: 460 KB of schema from a charge of Stripe. */
const maxOutputChars = 24 * 1024;
const maxExampleChars = 1_000;

/**
 * Makes a tool of one operation.
 *
 * @param onProblem hears of what is left out or left open; the tool works without it
 */
export function convertOperation(one: OperationToConvert, onProblem: (message: string) => void): ConvertedTool {
  const { document, operation } = one;
  const { declared, idempotencyHeader, problems } = parametersOf(one);
  for (const problem of problems) onProblem(problem);
  const asked = declared.filter(({ parameter }) => parameter.constant === undefined);
  const body = bodyOf(document, operation, new Set(asked.map(({ parameter }) => parameter.argument)));
  const responses = responsesOf(document, operation);
  const output = one.method === "HEAD" ? undefined : outputOf(document, operation, createSchemaWriter({ document, side: "output", maxChars: maxOutputChars, onProblem }));
  const [deprecated, title] = [deprecationOf(operation), textOf(own(operation, "summary"))];
  const sensitive = passwordsOf(asked, body);
  const input = inputOf(one, { asked, body, onProblem });
  const said = saidPaging(operation);
  const wire: HttpOperation = {
    method: one.method,
    path: one.path,
    servers: serversOf(one),
    parameters: declared.map(({ parameter }) => parameter),
    ...(body === undefined ? {} : { body: wireBody(document, body) }),
    responses,
    security: securityOf(one),
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
    ...(said === undefined ? {} : { paging: said }),
  };
  const paging = detectPaging({ operation: wire, input, output });
  return {
    spec: {
      name: one.name,
      ...(title === undefined ? {} : { title: plainText(title, 200) }),
      description: descriptionOf(one),
      input,
      ...(paging === undefined ? (output === undefined ? {} : { output }) : { paged: true, output: pagedOutput(output) }),
      effect: effectOf(one.method),
      tags: itemsOf(own(operation, "tags")).filter((tag) => typeof tag === "string"),
      examples: exampleOfCall(asked, body),
      errors: errorsOf(responses),
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(sensitive.length === 0 ? {} : { sensitive }),
    },
    operation: wire,
    ...(paging === undefined ? {} : { paging }),
  };
}

/** What a method says it does; the gate believes it of a source that the user trusts. */
function effectOf(method: string): Effect {
  if (["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].includes(method)) return "read";
  return method === "DELETE" ? "destructive" : "write";
}

function descriptionOf({ operation, method, path }: OperationToConvert): string {
  const summary = textOf(own(operation, "summary"));
  const description = textOf(own(operation, "description"));
  const said = summary === undefined || (description ?? "").startsWith(summary) ? [description] : [summary, description];
  const request = `${method} ${path}`;
  const text = plainText(said.filter((part) => part !== undefined).join("\n\n"), Math.max(100, maxDescriptionChars - request.length));
  return text === "" ? request : `${text}\n\n${request}`;
}

function deprecationOf(operation: unknown): string | undefined {
  if (own(operation, "deprecated") !== true) return undefined;
  return textOf(own(operation, "x-deprecation-description")) ?? textOf(own(operation, "x-deprecated-reason")) ?? "Its service has deprecated this operation";
}

interface InputParts {
  readonly asked: readonly DeclaredParameter[];
  readonly body: DeclaredBody | undefined;
  readonly onProblem: (message: string) => void;
}

function inputOf({ document }: OperationToConvert, { asked, body, onProblem }: InputParts): JsonSchema {
  const writer = createSchemaWriter({ document, side: "input", maxChars: maxInputChars, onProblem });
  const properties = [
    ...asked.map(({ parameter, schema, description, deprecated }) => [parameter.argument, writer.write({ ...(schema as object), ...(description === undefined ? {} : { description }), ...(deprecated ? { deprecated } : {}) })] as const),
    ...(body?.schemas ?? []).map(([argument, schema]) => [argument, writer.write(schema)] as const),
  ];
  const required = [...asked.filter(({ parameter }) => parameter.required).map(({ parameter }) => parameter.argument), ...(body?.required ?? [])];
  const input = { type: "object", properties: Object.fromEntries(properties), ...(required.length === 0 ? {} : { required }), additionalProperties: false };
  return withDefinitions(input, writer);
}

/** An XML body is written by its schema, which the document is not there for any more by then. */
function wireBody(document: unknown, { body }: DeclaredBody): HttpBody {
  return body.xml === undefined ? body : { ...body, xml: writeWhole(body.xml, { document, side: "input", maxChars: maxInputChars, keepsXml: true, onProblem: () => undefined }) };
}

/** Arguments that are passwords by their format. */
function passwordsOf(asked: readonly DeclaredParameter[], body: DeclaredBody | undefined): readonly string[] {
  const all = [...asked.map(({ parameter, schema }) => [parameter.argument, schema] as const), ...(body?.schemas ?? [])];
  return all.filter(([, schema]) => own(schema, "format") === "password").map(([argument]) => `/input/${argument.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

/** One example of a call, where the document has one for everything that is required. */
function exampleOfCall(asked: readonly DeclaredParameter[], body: DeclaredBody | undefined): readonly ToolExample[] {
  const bodyExample = body?.example;
  if (body !== undefined && body.body.required && entriesOf(bodyExample).length === 0) return [];
  const wanted = new Set(body?.schemas.map(([argument]) => argument));
  const entries = [
    ...asked.flatMap(({ parameter, example }) => (parameter.required || bodyExample === undefined) && example !== undefined ? [[parameter.argument, example] as const] : []),
    ...entriesOf(bodyExample).filter(([name]) => wanted.has(name)),
  ];
  const input = Object.fromEntries(entries) as JsonObject;
  const required = [...asked.filter(({ parameter }) => parameter.required).map(({ parameter }) => parameter.argument), ...(body?.required ?? [])];
  const isWhole = entries.length > 0 && required.every((argument) => Object.hasOwn(input, argument));
  return isWhole && JSON.stringify(input).length <= maxExampleChars ? [{ input }] : [];
}

/** The nearest list of servers, each with its variables replaced by their defaults. */
function serversOf({ document, pathItem, operation }: OperationToConvert): readonly string[] {
  const nearest = [operation, pathItem, document].map((holder) => itemsOf(own(holder, "servers"))).find((servers) => servers.length > 0) ?? [];
  return nearest.flatMap((server) => {
    const url = textOf(own(server, "url"));
    const variables = own(server, "variables");
    const written = (name: string): unknown => own(own(variables, name), "default");
    return url === undefined ? [] : [url.replace(/\{([^{}]+)\}/g, (whole, name: string) => (["string", "number"].includes(typeof written(name)) ? `${written(name) as string}` : whole))];
  });
}

function securityOf({ document, operation }: OperationToConvert): readonly (readonly SecurityNeed[])[] {
  const alternatives = itemsOf(own(operation, "security") ?? own(document, "security"));
  return alternatives.map((alternative) => entriesOf(alternative).map(([scheme, scopes]) => ({ scheme, scopes: itemsOf(scopes).filter((scope) => typeof scope === "string") })));
}

const pagingKeys = ["x-pagination", "x-ms-pageable", "x-speakeasy-pagination", "x-fern-pagination", "x-stainless-pagination"];

function saidPaging(operation: unknown): HttpOperation["paging"] {
  const said = pagingKeys.filter((key) => own(operation, key) !== undefined);
  return said.length === 0 ? undefined : Object.fromEntries(said.map((key) => [key, own(operation, key)]));
}

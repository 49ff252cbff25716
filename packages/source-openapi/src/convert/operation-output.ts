import type { JsonSchema, ToolErrorSpec } from "@callgate/contract";
import { entriesOf, own, resolved, textOf } from "../document/local-reference.ts";
import type { HttpResponse } from "../http-operation.ts";
import { plainLine } from "./plain-text.ts";
import { withDefinitions } from "./schema-writer.ts";
import type { SchemaWriter } from "./schema-writer.ts";

/** Statuses that have no body, whatever the document says. */
const emptyStatuses: ReadonlySet<string> = new Set(["204", "205"]);
const isSuccess = (status: string): boolean => /^2(?:\d\d|XX)$/i.test(status);
const isJson = (mediaType: string): boolean => /[/+]json\b|^\*\/\*$|^application\/\*$/i.test(mediaType);

export function responsesOf(document: unknown, operation: unknown): readonly HttpResponse[] {
  return entriesOf(own(operation, "responses")).flatMap(([status, written]) => {
    const response = resolved(document, written);
    if (!/^(?:[1-5](?:\d\d|XX)|default)$/i.test(status)) return [];
    const mediaTypes = entriesOf(own(response, "content")).map(([mediaType]) => mediaType);
    const headers = entriesOf(own(response, "headers")).map(([name]) => name.toLowerCase());
    return [{ status: status === "default" ? status : status.toUpperCase(), mediaTypes, description: plainLine(textOf(own(response, "description")) ?? "", 200), ...(headers.length === 0 ? {} : { headers }) }];
  });
}

/**
 * The schema of what a call gives: the bodies of all responses that say success, as `readAnswer` reads them. Undefined where
 * one of them is not said: nothing is promised then. `default` is an error wherever a success has a status of its own.
 */
export function outputOf(document: unknown, operation: unknown, writer: SchemaWriter): JsonSchema | undefined {
  const successes = entriesOf(own(operation, "responses")).filter(([status]) => isSuccess(status));
  const schemas = successes.map(([status, response]) => (emptyStatuses.has(status) ? { type: "null" } : bodySchema(document, response, writer)));
  const said = schemas.flatMap((schema) => (schema === undefined ? [] : [schema]));
  if (said.length === 0 || said.length < schemas.length) return undefined;
  const distinct = [...new Map(said.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only] = distinct;
  const whole = distinct.length === 1 ? only : { anyOf: distinct };
  return whole === undefined ? undefined : withDefinitions(whole, writer);
}

function bodySchema(document: unknown, response: unknown, writer: SchemaWriter): JsonSchema | undefined {
  const contents = entriesOf(own(resolved(document, response), "content"));
  const json = contents.find(([mediaType]) => isJson(mediaType));
  if (json === undefined) return plainAnswer(contents.map(([mediaType]) => mediaType));
  const schema = own(json[1], "schema");
  const written = schema === undefined ? {} : writer.write(schema);
  return typeof written === "object" && Object.keys(written).every((keyword) => keyword === "description") ? undefined : written;
}

/** What is neither JSON nor XML is a text, or a file of which the value tells the name. */
function plainAnswer(mediaTypes: readonly string[]): JsonSchema | undefined {
  if (mediaTypes.length === 0 || mediaTypes.some((mediaType) => /xml\b/i.test(mediaType))) return undefined;
  if (mediaTypes.every((mediaType) => /^text\//i.test(mediaType))) return { type: "string" };
  const isFile = mediaTypes.every((mediaType) => /^(?:image|audio|video|font)\/(?!svg)|^application\/(?:octet-stream|pdf|zip|gzip)\b/i.test(mediaType));
  return isFile ? { type: "object", properties: { artifact: { type: "string" }, mediaType: { type: "string" }, sizeBytes: { type: "integer" } }, required: ["artifact", "mediaType", "sizeBytes"] } : undefined;
}

/** Documented errors past this many are left out: a model needs the first ones. */
const maxErrors = 12;

/** A documented error has the code that a call fails with when the service answers so. */
export function errorsOf(responses: readonly HttpResponse[]): readonly ToolErrorSpec[] {
  const errors = responses.filter(({ status }) => /^[45]\d\d$/.test(status));
  return errors.slice(0, maxErrors).map(({ status, description }) => ({
    code: `HTTP_${status}`,
    description: description === "" ? `The service answered ${status}` : description,
    ...(status === "429" || status === "503" ? { retryable: true } : {}),
  }));
}

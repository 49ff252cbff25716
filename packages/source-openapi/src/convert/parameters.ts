import { entriesOf, itemsOf, own, resolved, textOf } from "../document/local-reference.ts";
import type { DocumentObject } from "../document/local-reference.ts";
import type { HttpParameter, ParameterPlace, ParameterStyle } from "../http-operation.ts";
import { isForPrograms } from "../request/request-headers.ts";

/** A parameter with what describes its argument. */
export interface DeclaredParameter {
  readonly parameter: HttpParameter;
  /** As the document has it. */
  readonly schema: unknown;
  readonly description: string | undefined;
  readonly deprecated: boolean;
  readonly example: unknown;
}

export interface DeclaredParameters {
  readonly declared: readonly DeclaredParameter[];
  readonly idempotencyHeader?: string;
  readonly problems: readonly string[];
}

export interface OperationPlace {
  readonly document: unknown;
  readonly pathItem: DocumentObject;
  readonly operation: DocumentObject;
  /** Without fragment and query. */
  readonly path: string;
  /** Fixed parts of the query that the path was written with. */
  readonly query: readonly (readonly [string, string])[];
  /** Templates in that query, with the name that each is the value of: `?lat={latitude}`. Documents call them path parameters. */
  readonly queryTemplates: ReadonlyMap<string, string>;
}

const styles: Readonly<Record<ParameterPlace, readonly ParameterStyle[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};
const idempotencyHeader = /^(?:x-)?idempotency-key$/i;

/**
 * The parameters of an operation and of its path, each once. A template of the path that nobody declared is a text; a path
 * parameter without a template goes nowhere and is left out.
 */
export function parametersOf(place: OperationPlace): DeclaredParameters {
  const problems: string[] = [];
  const byKey = new Map<string, DocumentObject>();
  for (const written of [...itemsOf(own(place.pathItem, "parameters")), ...itemsOf(own(place.operation, "parameters"))]) {
    const parameter = resolved(place.document, written);
    const name = own(parameter, "name");
    if (parameter === undefined || typeof name !== "string" || !isPlace(own(parameter, "in"))) problems.push(`a parameter is left out: ${parameter === undefined ? "its reference leads nowhere" : "it has no name, or no place (path, query, header, cookie)"}`);
    else {
      const moved = fromQuery(parameter, place.queryTemplates);
      byKey.set(placeOf(moved), moved);
    }
  }
  const templates = new Set([...place.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name ?? ""));
  const known = [...byKey.values()].filter((parameter) => {
    const reached = own(parameter, "in") !== "path" || templates.has(String(own(parameter, "name")));
    if (!reached) problems.push(`the path parameter "${String(own(parameter, "name"))}" is left out: the path has no {${String(own(parameter, "name"))}}`);
    return reached;
  });
  const text = { required: true, schema: { type: "string" } };
  const missing = [
    ...[...templates].filter((name) => !byKey.has(`path ${name}`)).map((name): DocumentObject => ({ name, in: "path", ...text })),
    ...[...place.queryTemplates.values()].filter((name) => !byKey.has(`query ${name}`)).map((name): DocumentObject => ({ name, in: "query", ...text })),
  ];
  const header = known.find((one) => own(one, "in") === "header" && idempotencyHeader.test(String(own(one, "name"))));
  const credentials = credentialPlaces(place.document);
  const sent = [...missing, ...known].filter((one) => one !== header && !saysItself(one) && !credentials.has(placeOf(one)));
  return {
    declared: [...place.query.map(([name, value]) => fixed(name, value)), ...withArguments(sent.map(declare))],
    ...(header === undefined ? {} : { idempotencyHeader: String(own(header, "name")) }),
    problems,
  };
}

function isPlace(value: unknown): value is ParameterPlace {
  return typeof value === "string" && Object.hasOwn(styles, value);
}

/** A path parameter whose template is in the query goes there, under the name that the query has for it. */
function fromQuery(parameter: DocumentObject, queryTemplates: ReadonlyMap<string, string>): DocumentObject {
  const name = own(parameter, "in") === "path" ? queryTemplates.get(String(own(parameter, "name"))) : undefined;
  return name === undefined ? parameter : { ...parameter, name, in: "query", required: true };
}

function placeOf(parameter: DocumentObject): string {
  return `${String(own(parameter, "in"))} ${String(own(parameter, "name"))}`;
}

/** Headers that say the media types, who calls, or what the request really is: never an argument. */
function saysItself(parameter: DocumentObject): boolean {
  const name = String(own(parameter, "name"));
  return own(parameter, "in") === "header" && (!isForPrograms(name) || name.toLowerCase() === "accept");
}

/** Where keys go that the source sends itself. Documents declare them as parameters as well; a model is never asked for one. */
function credentialPlaces(document: unknown): ReadonlySet<string> {
  const schemes = entriesOf(own(own(document, "components"), "securitySchemes")).map(([, scheme]) => resolved(document, scheme));
  return new Set(schemes.flatMap((scheme) => (scheme !== undefined && own(scheme, "type") === "apiKey" ? [placeOf(scheme)] : [])));
}

function fixed(name: string, value: string): DeclaredParameter {
  const parameter: HttpParameter = { name, argument: name, in: "query", required: true, style: "form", explode: true, allowReserved: false, constant: value };
  return { parameter, schema: {}, description: undefined, deprecated: false, example: undefined };
}

function declare(written: DocumentObject): DeclaredParameter {
  const place = own(written, "in") as ParameterPlace;
  const name = String(own(written, "name"));
  const [content] = entriesOf(own(written, "content"));
  const schema = content === undefined ? own(written, "schema") : own(content[1], "schema");
  const style = styles[place].find((one) => one === own(written, "style")) ?? styles[place][0] ?? "simple";
  const explode = own(written, "explode");
  const required = place === "path" || own(written, "required") === true;
  const constant = required ? onlyValue(schema) : undefined;
  return {
    parameter: {
      name,
      argument: name,
      in: place,
      required,
      style,
      explode: typeof explode === "boolean" ? explode : style === "form",
      allowReserved: own(written, "allowReserved") === true,
      ...(content === undefined ? {} : { mediaType: content[0] }),
      ...(constant === undefined ? {} : { constant }),
    },
    schema: schema ?? {},
    description: textOf(own(written, "description")),
    deprecated: own(written, "deprecated") === true,
    example: exampleOf(written) ?? exampleOf(schema),
  };
}

/** What can only have one value is no question to the caller: `?Action=ListUsers`. */
function onlyValue(schema: unknown): string | number | boolean | undefined {
  const values = itemsOf(own(schema, "enum"));
  const value = own(schema, "const") ?? (values.length === 1 ? values[0] : undefined);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

/** The first example of a parameter, a media type or a schema. */
export function exampleOf(holder: unknown): unknown {
  const single = own(holder, "example");
  if (single !== undefined) return single;
  const examples = own(holder, "examples");
  const [named] = entriesOf(examples);
  return named === undefined ? itemsOf(examples)[0] : own(named[1], "value");
}

/** Gives each an argument of its own: of two of one name the one in the path keeps it. */
function withArguments(declared: readonly DeclaredParameter[]): readonly DeclaredParameter[] {
  const count = Map.groupBy(declared.filter(({ parameter }) => parameter.constant === undefined), ({ parameter }) => parameter.name);
  const taken = new Set([...count].flatMap(([name, those]) => (those.length === 1 || those.some(({ parameter }) => parameter.in === "path") ? [name] : [])));
  return declared.map((one) => {
    const { parameter } = one;
    if (parameter.constant !== undefined || (count.get(parameter.name)?.length ?? 0) < 2 || parameter.in === "path") return one;
    let argument = `${parameter.name}_${parameter.in}`;
    while (taken.has(argument)) argument += "_";
    taken.add(argument);
    return { ...one, parameter: { ...parameter, argument } };
  });
}

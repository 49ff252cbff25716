import type { JsonSchema } from "@callgate/contract";

/**
 * One operation of a document as it goes over the wire: what building a request from the arguments of a call, and reading
 * the response, needs to know. Plain JSON, because it is kept in the cache. Everything is resolved: no `$ref` is left
 * outside of a schema, and styles are those of OpenAPI 3.1 with their defaults filled in.
 */
export interface HttpOperation {
  /** Upper case. */
  readonly method: string;
  /** As in the document, with its templates: `/repos/{owner}/{repo}/issues`. Every template has a parameter. */
  readonly path: string;
  /** Absolute or relative to the document, variables replaced by their defaults; the first is used. May be empty. */
  readonly servers: readonly string[];
  readonly parameters: readonly HttpParameter[];
  readonly body?: HttpBody;
  /** In the document's order. */
  readonly responses: readonly HttpResponse[];
  /** Alternatives of which one suffices; all schemes of an alternative are needed, and an empty one is: none. */
  readonly security: readonly (readonly SecurityNeed[])[];
  /** The header that takes the call's idempotency key, where the document declares one. It is no argument of the tool. */
  readonly idempotencyHeader?: string;
  /** What the document itself says about paging (`x-pagination`, `x-ms-pageable`, ...), as it stands there. */
  readonly paging?: Readonly<Record<string, unknown>>;
}

export type ParameterPlace = "path" | "query" | "header" | "cookie";
export type ParameterStyle = "simple" | "label" | "matrix" | "form" | "spaceDelimited" | "pipeDelimited" | "deepObject";

export interface HttpParameter {
  /** On the wire. */
  readonly name: string;
  /** In the arguments of the tool: the name, unless two things share it. */
  readonly argument: string;
  readonly in: ParameterPlace;
  readonly required: boolean;
  readonly style: ParameterStyle;
  readonly explode: boolean;
  /** Reserved characters of its value go out as they are (query only). */
  readonly allowReserved: boolean;
  /** Set where the parameter is declared by `content`: its value is written as that media type, style does not count. */
  readonly mediaType?: string;
  /** Exactly one value can go out; it is put in where the caller leaves it out. */
  readonly constant?: string | number | boolean;
}

/** The request body; one media type is chosen for each operation. */
export interface HttpBody {
  readonly mediaType: string;
  readonly required: boolean;
  /** `whole`: one argument is the body. `merged`: each of these properties of the body is an argument of the same name. */
  readonly from: { readonly kind: "whole"; readonly argument: string } | { readonly kind: "merged"; readonly properties: readonly string[] };
  /** For multipart and form bodies: how single properties are written. */
  readonly encoding?: Readonly<Record<string, HttpEncoding>>;
  /**
   * Top-level properties whose value is a file (`format: binary` and its like); `""` stands for the whole body. The
   * argument is a text, which is sent as UTF-8, or `{ base64, filename?, mediaType? }`.
   */
  readonly files: readonly string[];
  /** Of XML bodies: the schema with its `xml` hints, otherwise absent. References lead into its own `$defs`. */
  readonly xml?: JsonSchema;
}

export interface HttpEncoding {
  readonly contentType?: string;
  readonly style?: ParameterStyle;
  readonly explode?: boolean;
  readonly allowReserved?: boolean;
}

export interface HttpResponse {
  /** `200`, `4XX` or `default`. */
  readonly status: string;
  /** Media types with a body, in the document's order; none: the response has no body. */
  readonly mediaTypes: readonly string[];
  readonly description: string;
  /** Names of the headers it declares, lower case. Absent: none. */
  readonly headers?: readonly string[];
}

export interface SecurityNeed {
  readonly scheme: string;
  readonly scopes: readonly string[];
}

/** How a credential is sent, as the document declares it: OpenAPI 3.1 without what is prose. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "query" | "header" | "cookie"; readonly name: string }
  | { readonly type: "http"; readonly scheme: string }
  | { readonly type: "oauth2"; readonly tokenUrl?: string; readonly flows: readonly string[] }
  | { readonly type: "openIdConnect"; readonly url: string }
  | { readonly type: "mutualTLS" };

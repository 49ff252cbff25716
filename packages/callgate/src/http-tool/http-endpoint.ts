import type { AuthSpec } from "@callgate/http-client";
import type { PagingRule } from "@callgate/source-openapi/request";

/** Where an argument goes. */
export type ArgumentPlace = "path" | "query" | "header" | "cookie" | "body";

/** How an endpoint is called. */
export interface EndpointOptions {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** Where arguments go that are not in the path. Default: the query of a method without a body, else the JSON body. A header has the argument's name with `-` for `_`. */
  readonly places?: Readonly<Record<string, Exclude<ArgumentPlace, "path">>>;
  /** Of the body. Default `application/json`; forms, multipart, XML and text are written as well. */
  readonly bodyType?: string;
  /** Sent with every call. Secrets belong into `auth`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who calls, by reference (`env:NAME`, `file:PATH`): read at the first call, sent to the URL's origin and nowhere else. */
  readonly auth?: AuthSpec | readonly AuthSpec[];
  /** How pages follow each other: makes the tool `paged`. `output` is then the schema of one page. */
  readonly pages?: PagingRule;
  /** The header in which the service takes an idempotency key: a write is then repeated where that may help. */
  readonly idempotencyHeader?: string;
  /** Other origins that redirects may lead to, without credentials. */
  readonly redirectOrigins?: readonly string[];
}

/** An endpoint as the call needs it. */
export interface HttpEndpoint extends EndpointOptions {
  /** How errors name the tool. */
  readonly owner: string;
  /** Origin, and the query that goes with every call. */
  readonly url: URL;
  /** Path with its templates. */
  readonly path: string;
  /** Arguments that the input declares. */
  readonly names: readonly string[];
  readonly timeoutMs: number;
}

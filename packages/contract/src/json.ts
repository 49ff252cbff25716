/** A value that JSON text can hold. Property order carries no meaning. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON Schema document, 2020-12 or draft-07. Read through `unknown`: nothing about its inside is promised. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** Lower-case hex SHA-256 over RFC 8785 canonical JSON, prefixed `sha256:`. */
export type Digest = `sha256:${string}`;

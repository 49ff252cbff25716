/**
 * How a service wants to be told who calls, as configurations write it. Secrets are references (`env:NAME`, `file:PATH`),
 * so that a spec can be shown and kept.
 */
export type AuthSpec = ApiKeyAuth | BasicAuth | BearerAuth | OauthAuth;

export interface ApiKeyAuth {
  readonly kind: "apiKey";
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
  /** A reference. */
  readonly value: string;
}

export interface BasicAuth {
  readonly kind: "basic";
  readonly username: string;
  /** A reference. */
  readonly password: string;
}

export interface BearerAuth {
  readonly kind: "bearer";
  /** A reference. */
  readonly token: string;
}

/** OAuth 2.0 without a person: client credentials, or a refresh token that a person's login left. */
export interface OauthAuth {
  readonly kind: "oauth2";
  readonly grant: "client_credentials" | "refresh_token";
  /** https, or http on this machine. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** A reference. Absent: a public client. */
  readonly clientSecret?: string;
  /** A reference; of `refresh_token`. Where the service gives a new one with each token, the new one is used while the process lives. */
  readonly refreshToken?: string;
  readonly scopes?: readonly string[];
  /** As some services want it instead of `resource`. */
  readonly audience?: string;
  /** RFC 8707. */
  readonly resource?: string;
  /** How the client says who it is. Default `basic`. */
  readonly clientAuth?: "basic" | "post";
}

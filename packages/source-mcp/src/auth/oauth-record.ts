import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";

/** What is kept of a sign-in at one server. Secret as a whole. */
export interface OAuthRecord {
  /** Of the authorization server that gave the tokens: they go back to no other. */
  readonly issuer: string;
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  readonly obtainedAtMs: number;
  /** Absent where the authorization server did not say. */
  readonly expiresAtMs?: number;
  /** What the tokens are for, where the server does not say so itself. */
  readonly resource?: string;
  /** Where things are, as found when somebody signed in. */
  readonly discovery: OAuthDiscoveryState;
}

/** Keeps the sign-in at one server, for all processes of a user. */
export interface OAuthStore {
  read(): Promise<OAuthRecord | undefined>;
  write(record: OAuthRecord): Promise<void>;
  remove(): Promise<void>;
  /** Does something while no other process does: a refresh token is good for one use. */
  exclusively<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** When tokens end that were obtained at a time. */
export function expiryOf({ expires_in }: StoredOAuthTokens, obtainedAtMs: number): { readonly expiresAtMs?: number } {
  return expires_in === undefined ? {} : { expiresAtMs: obtainedAtMs + expires_in * 1_000 };
}

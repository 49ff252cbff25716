import type { AuthProvider, FetchLike } from "@modelcontextprotocol/client";
import { InsecureTokenEndpointError, OAuthError, OAuthErrorCode, refreshAuthorization } from "@modelcontextprotocol/client";
import { SignInNeeded } from "../http-failure.ts";
import { expiryOf } from "./oauth-record.ts";
import type { OAuthRecord, OAuthStore } from "./oauth-record.ts";

export interface OAuthTokensOptions {
  readonly store: OAuthStore;
  readonly fetch: FetchLike;
  /** What somebody does to sign in, e.g. `callgate auth login github`. */
  readonly signInWith: string;
  /** Wall clock. */
  readonly now: () => number;
}

/** A token is renewed this long before its end: it has to last for the request. */
const SKEW_MS = 60_000;

/** What makes a refresh token useless for good. Everything else may pass. */
const final: ReadonlySet<string> = new Set([OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient, OAuthErrorCode.InvalidScope]);

/**
 * Gives the token of a sign-in that is kept, renewed before it ends and once the server refuses it: by one request,
 * however many ask. Nobody is asked to sign in from here: without a sign-in that counts, `SignInNeeded` is thrown.
 */
export function createOAuthTokens(options: OAuthTokensOptions): AuthProvider {
  const { store, now, signInWith } = options;
  let given: string | undefined;
  let renewing: Promise<OAuthRecord> | undefined;
  const renew = (refused: string | undefined): Promise<OAuthRecord> => {
    renewing ??= store.exclusively(() => renewed(options, refused)).finally(() => {
      renewing = undefined;
    });
    return renewing;
  };
  return {
    async token() {
      const kept = await store.read();
      if (kept === undefined) return undefined;
      const leftMs = (kept.expiresAtMs ?? Infinity) - now();
      // What cannot be renewed for the moment is used as long as it lasts.
      const record = leftMs > SKEW_MS || kept.tokens.refresh_token === undefined ? kept : await renew(undefined).catch((error: unknown) => (leftMs > 0 && !(error instanceof SignInNeeded) ? kept : Promise.reject(error as Error)));
      given = record.tokens.access_token;
      return given;
    },
    async onUnauthorized() {
      const kept = await store.read();
      if (kept === undefined) throw new SignInNeeded(`needs somebody to sign in: ${signInWith}`);
      // Another process has renewed it meanwhile: the next request takes that.
      if (given !== undefined && kept.tokens.access_token !== given) return;
      await renew(given);
    },
  };
}

/** @param refused the token that the server did not take; undefined where it only nears its end */
async function renewed({ store, fetch, signInWith, now }: OAuthTokensOptions, refused: string | undefined): Promise<OAuthRecord> {
  const kept = await store.read();
  const again = (why: string): SignInNeeded => new SignInNeeded(`needs somebody to sign in again (${why}): ${signInWith}`);
  if (kept === undefined) throw again("the sign-in is gone");
  const isRenewedElsewhere = refused === undefined ? (kept.expiresAtMs ?? Infinity) - now() > SKEW_MS : kept.tokens.access_token !== refused;
  if (isRenewedElsewhere) return kept;
  const { refresh_token: refreshToken } = kept.tokens;
  if (refreshToken === undefined) throw again("its token has ended, and there is none to renew it with");
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = kept.discovery;
  const resource = kept.resource ?? resourceMetadata?.resource;
  try {
    const tokens = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: kept.client,
      refreshToken,
      fetchFn: fetch,
      ...(metadata === undefined ? {} : { metadata }),
      ...(resource === undefined ? {} : { resource }),
    });
    const record: OAuthRecord = { issuer: kept.issuer, client: kept.client, discovery: kept.discovery, obtainedAtMs: now(), tokens: { ...tokens, issuer: kept.issuer, ...(tokens.scope === undefined && kept.tokens.scope !== undefined ? { scope: kept.tokens.scope } : {}) }, ...expiryOf(tokens, now()), ...(kept.resource === undefined ? {} : { resource: kept.resource }) };
    await store.write(record);
    return record;
  } catch (error) {
    if (error instanceof InsecureTokenEndpointError) throw again("its token endpoint is not https");
    if (!(error instanceof OAuthError) || !final.has(error.code)) throw error;
    await store.remove();
    throw again(`the authorization server says ${error.code}`);
  }
}

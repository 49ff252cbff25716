import { randomBytes } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { FetchLike, OAuthClientMetadata, OAuthClientProvider, OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { expiryOf } from "./oauth-record.ts";
import type { OAuthRecord, OAuthStore } from "./oauth-record.ts";
import { listenForRedirect } from "./redirect-listener.ts";

export interface SignInOptions {
  /** Of the MCP server. */
  readonly url: string;
  readonly store: OAuthStore;
  readonly fetch: FetchLike;
  /** Shows a person where to sign in. The URL is http or https. */
  readonly show: (url: URL) => Promise<void> | void;
  /** A client that was registered beforehand. Default: the metadata document, else one registers by itself. */
  readonly client?: { readonly clientId: string; readonly clientSecret?: string };
  /** The authorization server, of an MCP server that does not name it (no protected-resource metadata). Default: what the server says. */
  readonly issuer?: string;
  /** An https URL that serves this client's metadata, for authorization servers that take one as the client's id. */
  readonly clientMetadataUrl?: string;
  /** Default: what the server asks for. */
  readonly scopes?: readonly string[];
  /** Of the loopback, where the browser is sent back to. Default: any that is free. */
  readonly callbackPort?: number;
  /** Wall clock. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Signs a person in at the authorization server of an MCP server, as revision 2026-07-28 asks: protected-resource
 * metadata, PKCE with S256, the resource it is for, the issuer checked when the browser comes back. What comes of it is
 * kept in the store.
 *
 * Errors: `CallgateError` SOURCE_FAILED where the server wants no sign-in, the authorization server refuses it or cannot
 * be reached; the reason of `signal`.
 */
export async function signIn(options: SignInOptions): Promise<OAuthRecord> {
  const { url, fetch, scopes, store, signal, now } = options;
  const listener = await listenForRedirect(options.callbackPort ?? 0);
  const state = randomBytes(24).toString("base64url");
  const provider = createProvider(options, { redirectUrl: listener.url, state, earlier: await store.read() });
  try {
    const challenge = await untilAborted(challengeOf(url, fetch), signal);
    const given = { serverUrl: url, fetchFn: fetch, ...challenge, ...(scopes === undefined ? {} : { scope: scopes.join(" ") }) };
    const redirected = listener.next(state, signal);
    // It may be refused before anybody waits for it.
    redirected.catch(() => undefined);
    await untilAborted(auth(provider, { ...given, forceReauthorization: true }), signal);
    const answer = await redirected;
    if (answer.kind === "error") throw refused(url, `${answer.error}${answer.description === undefined ? "" : `: ${answer.description.slice(0, 300)}`}`);
    await untilAborted(auth(provider, { ...given, authorizationCode: answer.code, ...(answer.iss === undefined ? {} : { iss: answer.iss }) }), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw CallgateError.is(error) ? error : refused(url, error instanceof Error ? error.message : String(error), error);
  } finally {
    await listener.close();
  }
  const { client, tokens, discovery } = provider.result();
  if (client === undefined || tokens === undefined || discovery === undefined) throw refused(url, "no token came of it");
  const record: OAuthRecord = { issuer: tokens.issuer ?? discovery.authorizationServerUrl, client, tokens, discovery, obtainedAtMs: now(), ...expiryOf(tokens, now()), ...(options.issuer === undefined ? {} : { resource: resourceOf(url).href }) };
  await store.exclusively(() => store.write(record));
  return record;
}

function resourceOf(url: string): URL {
  const resource = new URL(url);
  resource.hash = "";
  return resource;
}

/** What the server says of how to sign in, to somebody who has not. */
async function challengeOf(url: string, fetch: FetchLike): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }) });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }), ...(scope === undefined ? {} : { scope }) };
}

function refused(url: string, why: string, cause?: unknown): CallgateError {
  const { origin, pathname } = new URL(url);
  return new CallgateError("SOURCE_FAILED", `Nobody was signed in at ${origin}${pathname}: ${why}. Nothing was kept; an earlier sign-in stays as it was`, { cause });
}

interface SigningIn {
  readonly redirectUrl: string;
  readonly state: string;
  /** Its client is taken again where the authorization server is the same. */
  readonly earlier: OAuthRecord | undefined;
}

interface SignInResult {
  readonly client: StoredOAuthClientInformation | undefined;
  readonly tokens: StoredOAuthTokens | undefined;
  readonly discovery: OAuthDiscoveryState | undefined;
}

/** The SDK's view of one sign-in. Nothing of it is kept before there is a token. */
function createProvider({ url: serverUrl, client, issuer, clientMetadataUrl, show, scopes }: SignInOptions, { redirectUrl, state, earlier }: SigningIn): OAuthClientProvider & { result(): SignInResult } {
  const registered: StoredOAuthClientInformation | undefined = client === undefined ? undefined : { client_id: client.clientId, ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }) };
  // A client that registered itself did so with the port of then, which only some authorization servers leave open.
  const again = earlier?.client.client_id === clientMetadataUrl ? earlier?.client : undefined;
  let information = registered ?? again;
  let tokens: StoredOAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined = issuer === undefined ? undefined : { authorizationServerUrl: issuer };
  let verifier = "";
  const clientMetadata: OAuthClientMetadata = {
    client_name: "Callgate",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: client?.clientSecret === undefined ? "none" : "client_secret_post",
    ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
  };
  return {
    redirectUrl,
    clientMetadata,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    // What a server does not say of itself, its tokens are bound to all the same.
    ...(issuer === undefined ? {} : { validateResourceURL: () => Promise.resolve(resourceOf(serverUrl)) }),
    state: () => state,
    // One that was registered beforehand is for whichever authorization server this MCP server has.
    clientInformation: (context) => (information?.issuer === undefined && information !== undefined && context !== undefined ? { ...information, issuer: context.issuer } : information),
    saveClientInformation: (saved) => {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: async (url) => {
      if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`the authorization server names an endpoint that is no web page (${url.protocol})`);
      await show(url);
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (saved) => {
      discovery = saved;
    },
    result: () => ({ client: information, tokens, discovery }),
  };
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

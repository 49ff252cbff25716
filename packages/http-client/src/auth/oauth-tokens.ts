import { CallgateError } from "@callgate/contract";
import type { Clock } from "@callgate/contract";
import * as oauth from "oauth4webapi";
import { HttpFailed } from "../http-result.ts";
import type { HttpFailure } from "../http-result.ts";
import type { OauthAuth } from "./auth-spec.ts";

/** As `fetch`, of a guarded client. */
export type TokenFetch = (url: string, init: RequestInit) => Promise<Response>;

export type GotToken = { readonly kind: "token"; readonly token: string } | Omit<HttpFailure, "isSent">;

/** Access tokens of one client, got when needed and before they expire; callers at once share one request. */
export interface OauthTokens {
  get(signal: AbortSignal): Promise<GotToken>;
  /** The service refused this token. True when another one is there or can be got: of calls at once, the first has it replaced. */
  forget(token: string): boolean;
  secrets(): readonly string[];
  problem(): string | undefined;
}

export interface OauthHost {
  read(reference: string): string;
  readonly fetch: TokenFetch;
  readonly clock: Clock;
}

/** A token is renewed so long before it expires, or a tenth of its life before where that is less. */
const skewMs = 60_000;
const tokenRequestMs = 30_000;
/** Of a service that does not say how long a token lives. */
const defaultLifeMs = 300_000;

interface HeldToken {
  readonly value: string;
  /** Monotonic. */
  readonly renewAtMs: number;
}

/** Errors: `CallgateError` CONFIG_INVALID. Nothing is asked before the first `get`. */
export function createOauthTokens(spec: OauthAuth, host: OauthHost): OauthTokens {
  const endpoint = tokenEndpoint(spec.tokenUrl);
  const clientSecret = spec.clientSecret === undefined ? undefined : host.read(spec.clientSecret);
  let refreshToken = spec.grant === "refresh_token" ? host.read(spec.refreshToken ?? missing("refreshToken")) : undefined;
  const known = new Set([clientSecret, refreshToken].filter((one) => one !== undefined));
  let held: HeldToken | undefined;
  let underWay: Promise<GotToken> | undefined;
  let problem: string | undefined;

  async function request(): Promise<GotToken> {
    try {
      const answer = await askForToken(spec, { endpoint, clientSecret, refreshToken, fetch: host.fetch });
      const lifeMs = answer.expires_in === undefined ? defaultLifeMs : answer.expires_in * 1_000;
      held = { value: answer.access_token, renewAtMs: host.clock.monotonic() + lifeMs - Math.min(skewMs, lifeMs / 10) };
      known.add(answer.access_token);
      if (refreshToken !== undefined && answer.refresh_token !== undefined) {
        refreshToken = answer.refresh_token;
        known.add(refreshToken);
      }
      return { kind: "token", token: held.value };
    } catch (fault) {
      const failure = tokenFailure(fault, spec);
      if (!failure.isTransient) problem = failure.message;
      return failure;
    }
  }

  return {
    async get(signal) {
      // Asking again with what was refused for good only locks accounts.
      if (problem !== undefined) return { kind: "failed", reason: "credentials", message: problem, isTransient: false };
      if (held !== undefined && host.clock.monotonic() < held.renewAtMs) return { kind: "token", token: held.value };
      underWay ??= request().finally(() => (underWay = undefined));
      return await unlessAborted(underWay, signal);
    },
    forget(token) {
      if (held?.value === token) held = undefined;
      return problem === undefined;
    },
    secrets: () => [...known],
    problem: () => problem,
  };
}

interface TokenRequest {
  readonly endpoint: URL;
  readonly clientSecret: string | undefined;
  readonly refreshToken: string | undefined;
  readonly fetch: TokenFetch;
}

async function askForToken(spec: OauthAuth, { endpoint, clientSecret, refreshToken, fetch }: TokenRequest): Promise<oauth.TokenEndpointResponse> {
  const server: oauth.AuthorizationServer = { issuer: endpoint.origin, token_endpoint: endpoint.href };
  const client: oauth.Client = { client_id: spec.clientId };
  const auth = clientSecret === undefined ? oauth.None() : spec.clientAuth === "post" ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
  const more = new URLSearchParams();
  if (spec.scopes !== undefined && spec.scopes.length > 0) more.set("scope", spec.scopes.join(" "));
  if (spec.audience !== undefined) more.set("audience", spec.audience);
  if (spec.resource !== undefined) more.set("resource", spec.resource);
  const options = {
    [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<"POST", URLSearchParams>) => fetch(url, { method: init.method, headers: init.headers, body: init.body, ...(init.signal === undefined ? {} : { signal: init.signal }) }),
    // Only ever to this machine: `tokenEndpoint` refuses the rest.
    [oauth.allowInsecureRequests]: endpoint.protocol === "http:",
    signal: AbortSignal.timeout(tokenRequestMs),
  };
  if (refreshToken === undefined) {
    return await oauth.processClientCredentialsResponse(server, client, await oauth.clientCredentialsGrantRequest(server, client, auth, more, options));
  }
  return await oauth.processRefreshTokenResponse(server, client, await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, { ...options, additionalParameters: more }));
}

/** What the service means to say is final; a service that cannot answer now is not. */
function tokenFailure(fault: unknown, { tokenUrl, grant }: OauthAuth): Omit<HttpFailure, "isSent"> {
  const where = `the token endpoint ${new URL(tokenUrl).origin}`;
  const failed = (message: string, isTransient: boolean): Omit<HttpFailure, "isSent"> => ({ kind: "failed", reason: "credentials", message, isTransient });
  if (fault instanceof oauth.ResponseBodyError) {
    const isTransient = fault.status >= 500 || fault.status === 429 || fault.error === "temporarily_unavailable" || fault.error === "server_error";
    const what = fault.error === "invalid_grant" && grant === "refresh_token" ? "the refresh token is no longer valid: log in again and put the new one in its place" : fault.error === "invalid_client" ? "the client is not known, or its secret is wrong" : isTransient ? "try again later" : "check clientId, scopes and grant";
    return failed(`${where} refused to give a token (${fault.error.slice(0, 100)}): ${what}`, isTransient);
  }
  if (fault instanceof HttpFailed) return failed(`${where} gave no token: ${fault.failure.message}`, fault.failure.isTransient);
  const status = statusOf(fault);
  if (status !== undefined) return failed(`${where} answered with status ${status}, which is no answer of OAuth`, status >= 500 || status === 429 || status === 408);
  if (fault instanceof Error && fault.name === "TimeoutError") return failed(`${where} did not answer within ${tokenRequestMs} ms`, true);
  return failed(`${where} answered with what is no answer of OAuth`, false);
}

/** Of an answer that the library could not read. */
function statusOf(fault: unknown): number | undefined {
  const cause = fault instanceof Error ? fault.cause : undefined;
  const response = cause instanceof Response ? cause : typeof cause === "object" && cause !== null && "response" in cause ? cause.response : undefined;
  return response instanceof Response ? response.status : undefined;
}

/** Leaves the shared request alone: others wait for it. */
async function unlessAborted(work: Promise<GotToken>, signal: AbortSignal): Promise<GotToken> {
  const aborted: GotToken = { kind: "failed", reason: "aborted", message: "The request was given up while its token was got", isTransient: false };
  if (signal.aborted) return aborted;
  let stop: () => void = () => undefined;
  const given = new Promise<GotToken>((resolve) => {
    stop = () => resolve(aborted);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, given]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function tokenEndpoint(text: string): URL {
  const url = URL.parse(text);
  const isHere = url !== null && (url.hostname === "localhost" || url.hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(url.hostname));
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && isHere))) throw new CallgateError("CONFIG_INVALID", `tokenUrl "${text.slice(0, 200)}" is no https URL: secrets would go over the network in clear`);
  return url;
}

function missing(field: string): never {
  throw new CallgateError("CONFIG_INVALID", `oauth2 with the grant refresh_token needs ${field}`);
}

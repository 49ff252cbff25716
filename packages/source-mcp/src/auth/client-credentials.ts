import type { AuthProvider, FetchLike, OAuthClientProvider } from "@modelcontextprotocol/client";
import { auth, ClientCredentialsProvider, PrivateKeyJwtProvider } from "@modelcontextprotocol/client";

export interface ClientCredentialsOptions {
  /** Of the MCP server. */
  readonly url: string;
  readonly clientId: string;
  /** What proves that it is the client: a secret, or a private key (PEM) that signs with `algorithm`, e.g. ES256. */
  readonly proof: { readonly clientSecret: string } | { readonly privateKey: string; readonly algorithm: string };
  readonly scopes?: readonly string[];
  readonly fetch: FetchLike;
  /** Wall clock. */
  readonly now: () => number;
}

/** A token is fetched anew this long before its end. */
const SKEW_MS = 60_000;

/** The token of a client that acts for itself, without a person: fetched when first needed and before it ends, kept in memory. */
export function createClientCredentials(options: ClientCredentialsOptions): AuthProvider {
  const { url, fetch, now } = options;
  const provider = providerOf(options);
  let endsAtMs = -Infinity;
  let fetching: Promise<void> | undefined;
  const renew = (): Promise<void> => {
    fetching ??= auth(provider, { serverUrl: url, fetchFn: fetch }).then(async () => {
      const seconds = (await provider.tokens())?.expires_in;
      endsAtMs = seconds === undefined ? Infinity : now() + seconds * 1_000;
    }).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return {
    async token() {
      if (endsAtMs - now() <= SKEW_MS) await renew();
      return (await provider.tokens())?.access_token;
    },
    async onUnauthorized() {
      await renew();
    },
  };
}

function providerOf({ clientId, proof, scopes }: ClientCredentialsOptions): OAuthClientProvider {
  const scope = scopes === undefined ? {} : { scope: scopes.join(" ") };
  return "clientSecret" in proof ? new ClientCredentialsProvider({ clientId, clientSecret: proof.clientSecret, ...scope }) : new PrivateKeyJwtProvider({ clientId, privateKey: proof.privateKey, algorithm: proof.algorithm, ...scope });
}

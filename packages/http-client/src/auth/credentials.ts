import { CallgateError } from "@callgate/contract";
import type { Clock } from "@callgate/contract";
import type { HeaderPair } from "../header-rules.ts";
import type { HttpFailure } from "../http-result.ts";
import { originOf } from "../origin-guard.ts";
import type { ApiKeyAuth, AuthSpec } from "./auth-spec.ts";
import { createOauthTokens } from "./oauth-tokens.ts";
import type { OauthTokens, TokenFetch } from "./oauth-tokens.ts";

/** What is sent to a service to say who calls. Never prints, and never leaves its origins. */
export interface Credentials {
  /** Origins they may be sent to. */
  readonly origins: ReadonlySet<string>;
  /** The same request with them; fails where they cannot be had now. Never rejects. */
  apply(request: { readonly url: URL; readonly headers: readonly HeaderPair[] }, signal: AbortSignal): Promise<Applied>;
  /** The service answered 401 to these headers. True when others can be had, so that asking once more makes sense. */
  refused(headers: readonly HeaderPair[]): boolean;
  /** Clear texts that must not be seen anywhere; grows as tokens are got. */
  secrets(): readonly string[];
  /** What a person has to do before they work again; undefined while they work. */
  problem(): string | undefined;
}

export type Applied = { readonly kind: "applied"; readonly url: URL; readonly headers: readonly HeaderPair[] } | Omit<HttpFailure, "isSent">;

export interface CredentialsHost {
  /** Origins of the service they are for, e.g. `https://api.example.com`. They are sent to no other, whatever a document or a redirect says. */
  readonly origins: readonly string[];
  /** The clear text of a reference. Throws `CallgateError` CONFIG_INVALID naming what is missing. */
  read(reference: string): string;
  /** The guarded way to token endpoints: `createFetch(client)` of a client that names their origins. */
  readonly fetch: TokenFetch;
  readonly clock: Clock;
}

/** One way of telling who calls. `put` gives undefined where it cannot be had. */
interface Part {
  put(request: { readonly url: URL; readonly headers: readonly HeaderPair[] }, signal: AbortSignal): Promise<Applied>;
  readonly tokens?: OauthTokens;
  readonly secrets: readonly string[];
}

/**
 * Makes credentials of one or several specs that are sent together.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a reference that leads nowhere or a token URL that would send secrets in clear.
 */
export function createCredentials(specs: readonly AuthSpec[], host: CredentialsHost): Credentials {
  const parts = specs.map((spec) => partOf(spec, host));
  const tokens = parts.flatMap((part) => part.tokens ?? []);
  return {
    origins: new Set(host.origins.map(originOf)),
    async apply(request, signal) {
      let applied: Applied = { kind: "applied", ...request };
      for (const part of parts) {
        if (applied.kind === "failed") break;
        applied = await part.put(applied, signal);
      }
      return applied;
    },
    refused(headers) {
      const sent = headers.findLast(([name]) => name === "authorization")?.[1] ?? "";
      return tokens.map((one) => one.forget(sent.slice("Bearer ".length))).some((isNew) => isNew);
    },
    secrets: () => [...parts.flatMap(({ secrets }) => secrets), ...tokens.flatMap((one) => one.secrets())],
    problem: () => tokens.map((one) => one.problem()).find((one) => one !== undefined),
  };
}

function partOf(spec: AuthSpec, host: CredentialsHost): Part {
  switch (spec.kind) {
    case "apiKey": {
      const value = sendable(host.read(spec.value), `the key ${spec.name}`);
      return { secrets: [value], put: ({ url, headers }) => Promise.resolve(withKey(spec, value, { url, headers })) };
    }
    case "basic": {
      const password = host.read(spec.password);
      if (spec.username.includes(":")) throw new CallgateError("CONFIG_INVALID", "A user name of basic auth cannot hold a colon");
      const value = `Basic ${Buffer.from(`${spec.username}:${password}`).toString("base64")}`;
      return { secrets: [password, value.slice("Basic ".length)], put: authorization(value) };
    }
    case "bearer": {
      const token = sendable(host.read(spec.token), "the bearer token");
      return { secrets: [token], put: authorization(`Bearer ${token}`) };
    }
    case "oauth2": {
      const tokens = createOauthTokens(spec, host);
      return {
        secrets: [],
        tokens,
        async put(request, signal) {
          const got = await tokens.get(signal);
          return got.kind === "failed" ? got : await authorization(`Bearer ${got.token}`)(request);
        },
      };
    }
  }
}

function authorization(value: string) {
  return ({ url, headers }: { readonly url: URL; readonly headers: readonly HeaderPair[] }): Promise<Applied> =>
    Promise.resolve({ kind: "applied", url, headers: [...without(headers, "authorization"), ["authorization", value]] });
}

function withKey({ in: place, name }: ApiKeyAuth, value: string, { url, headers }: { readonly url: URL; readonly headers: readonly HeaderPair[] }): Applied {
  switch (place) {
    case "header":
      return { kind: "applied", url, headers: [...without(headers, name), [name, value]] };
    case "query": {
      const asked = new URL(url);
      // Not `searchParams`, which would write the rest of the query anew.
      const rest = asked.search.slice(1).split("&").filter((pair) => pair !== "" && decodeName(pair.split("=", 1)[0] ?? "") !== name);
      asked.search = [...rest, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join("&");
      return { kind: "applied", url: asked, headers };
    }
    case "cookie": {
      const cookies = headers.filter(([header]) => header.toLowerCase() === "cookie").map(([, text]) => text);
      return { kind: "applied", url, headers: [...without(headers, "cookie"), ["cookie", [...cookies, `${name}=${value}`].join("; ")]] };
    }
  }
}

function without(headers: readonly HeaderPair[], name: string): readonly HeaderPair[] {
  return headers.filter(([header]) => header.toLowerCase() !== name.toLowerCase());
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** A secret that was pasted with a line break would be refused at every call, with words about headers. */
function sendable(value: string, what: string): string {
  if (value === "" || /\p{Cc}|^\s|\s$/u.test(value)) throw new CallgateError("CONFIG_INVALID", `${what} is ${value === "" ? "empty" : "of more than one word or line"}: the reference leads to something else than the secret alone`);
  return value;
}

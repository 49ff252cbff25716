import { createHash, timingSafeEqual } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Principal } from "@callgate/contract";

/** A client that is known by its token. */
export interface HttpClient {
  /** SHA-256 of the token, 64 hex digits: the endpoint need not know the token itself. */
  readonly tokenSha256: string;
  readonly principal: Principal;
}

/** Who is known by a token. */
export interface KnownToken {
  readonly id: string;
  /** What it opens. */
  readonly opens: "endpoint" | "metrics";
  /** Undefined: the server's own. */
  readonly principal: Principal | undefined;
}

export interface BearerTokens {
  /** `authorization`: the header as it came. */
  find(authorization: string): KnownToken | undefined;
}

/** Who may come: with the endpoint's token, as a client, or to read the metrics. */
export interface TokenHolders {
  readonly token: string;
  readonly clients: readonly HttpClient[];
  readonly metricsTokenSha256?: string;
}

/** Throws `CallgateError` USAGE for a digest that is none, or is there twice. */
export function createBearerTokens({ token, clients, metricsTokenSha256 }: TokenHolders): BearerTokens {
  const known = [
    { digest: sha256(token), id: "", opens: "endpoint" as const, principal: undefined as Principal | undefined },
    ...clients.map(({ tokenSha256, principal }) => ({ digest: digestOf(tokenSha256), id: tokenSha256.toLowerCase(), opens: "endpoint" as const, principal })),
    ...(metricsTokenSha256 === undefined ? [] : [{ digest: digestOf(metricsTokenSha256), id: "metrics", opens: "metrics" as const, principal: undefined }]),
  ];
  if (new Set(known.map(({ digest }) => digest.toString("hex"))).size !== known.length) throw new CallgateError("USAGE", "Two tokens of the MCP endpoint are the same, so nobody could tell who asks");
  return {
    find(authorization) {
      const given = sha256(authorization.replace(/^Bearer /, ""));
      if (!authorization.startsWith("Bearer ")) return undefined;
      // Digests have one length, and all are compared, so the comparison takes the same time for every guess.
      return known.filter(({ digest }) => timingSafeEqual(given, digest))[0];
    },
  };
}

function digestOf(hex: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new CallgateError("USAGE", "tokenSha256 is the SHA-256 of a token, 64 hex digits");
  return Buffer.from(hex, "hex");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

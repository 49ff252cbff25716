import { createHash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Principal } from "@callgate/contract";
import type { LoadedConfig } from "../config/load-config.ts";
import { resolveReferences } from "../config/secret-references.ts";
import { completePrincipal, profilePrincipal } from "../principal-input.ts";

type Configured = Pick<LoadedConfig, "config" | "folder">;
type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter tokens can be guessed. */
const minTokenChars = 16;

/**
 * The clients of the MCP endpoint that the configuration names: the digest of each one's token, and its principal.
 *
 * Errors: CONFIG_INVALID for a profile or secret that is not there, and for a token that is too short.
 */
export function httpClients({ config, folder }: Configured, env: Environment): readonly { readonly tokenSha256: string; readonly principal: Principal }[] {
  return (config.mcp?.clients ?? []).map(({ profile, token, tokenSha256 }, index) => ({
    principal: completePrincipal(profilePrincipal(config, profile)),
    tokenSha256: tokenSha256 ?? digestOf(token ?? "", `mcp.clients[${index}]`, { folder, env }),
  }));
}

/**
 * SHA-256 of the token that opens /metrics. Undefined: the configuration names none.
 *
 * Errors: CONFIG_INVALID for a secret that is not there, and for a token that is too short.
 */
export function metricsTokenSha256({ config, folder }: Configured, env: Environment): string | undefined {
  const { metrics } = config.mcp ?? {};
  return metrics === undefined ? undefined : (metrics.tokenSha256 ?? digestOf(metrics.token ?? "", "mcp.metrics", { folder, env }));
}

function digestOf(reference: string, place: string, host: Parameters<typeof resolveReferences>[2]): string {
  const token = resolveReferences({ token: reference }, place, host).values["token"] ?? "";
  if (token.length < minTokenChars) throw new CallgateError("CONFIG_INVALID", `${place}.token must have at least ${minTokenChars} characters`);
  return createHash("sha256").update(token).digest("hex");
}

import { isIP } from "node:net";
import { CallgateError } from "@callgate/contract";
import { createAddressGuard, judgeTarget, parseTarget } from "./network/index.ts";
import type { Resolve, Target } from "./network/index.ts";

export interface OriginGuardOptions {
  /**
   * Origins that a person wrote into the configuration, such as `http://localhost:3000`: they may be on this machine or in a
   * private network. A name never leads to a link-local address (where clouds keep credentials); an address that is
   * written out is meant.
   */
  readonly namedOrigins?: readonly string[];
  /** Default: the resolver of this machine. */
  readonly resolve?: Resolve;
}

export type OriginVerdict =
  | { readonly kind: "allowed"; readonly addresses: readonly string[] }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unresolved"; readonly message: string };

/** Judges where a connection of an origin would go. Never rejects. */
export type OriginGuard = (origin: string) => Promise<OriginVerdict>;

/** What a name of the configuration may lead to: this machine and private networks. */
const namedRanges = ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];

/** Throws `CallgateError` CONFIG_INVALID for an origin that is none. */
export function createOriginGuard({ namedOrigins = [], resolve }: OriginGuardOptions): OriginGuard {
  const named = new Set(namedOrigins.map(originOf));
  const strict = createAddressGuard();
  const wide = createAddressGuard(namedRanges);
  return async (origin) => {
    const target = targetOf(origin);
    if (target === undefined) return { kind: "refused", message: `${origin} is no origin that reads one way` };
    const isNamed = named.has(origin);
    if (isNamed && isIP(target.host) !== 0) return { kind: "allowed", addresses: [target.host] };
    const verdict = await judgeTarget(target, isNamed ? wide : strict, resolve);
    if (verdict.kind !== "denied") return verdict;
    const { address, range } = verdict;
    const fix = isNamed ? "A name never leads there" : "If it is meant, a person names this origin in the configuration of the source";
    return { kind: "refused", message: `${origin} leads to ${address}, in ${range.cidr}: ${range.is}. ${fix}` };
  };
}

/**
 * The origin of a URL in its one spelling, e.g. `https://api.example.com`.
 *
 * Errors: `CallgateError` CONFIG_INVALID for what is no http or https URL.
 */
export function originOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) throw new CallgateError("CONFIG_INVALID", `"${text.slice(0, 200)}" is no http or https URL`);
  return url.origin;
}

function targetOf(origin: string): Target | undefined {
  const url = URL.parse(origin);
  return url === null ? undefined : parseTarget(url.host, url.protocol === "https:" ? 443 : 80);
}

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { createAddressGuard } from "./denied-ranges.ts";
import { parseAllowed, writeTarget } from "./target.ts";
import type { Target } from "./target.ts";

/** What programs may reach. */
export interface NetworkOptions {
  /** `host:port`, exact. An empty list is no network. */
  readonly allow: readonly string[];
  /** Parts of the private, loopback, link-local and other special ranges that may be reached all the same, as CIDR. */
  readonly unsafeRanges?: readonly string[];
  /** All addresses of a name. Default: the resolver of this machine. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

export type Verdict =
  /** One of these was checked; nothing else may be connected to. */
  | { readonly kind: "allowed"; readonly addresses: readonly string[] }
  /** `rule` for the record, `message` for the program: what was refused, why, what to do. */
  | { readonly kind: "denied"; readonly rule: DenyRule; readonly message: string }
  /** The name has no address, or could not be looked up. */
  | { readonly kind: "unresolved"; readonly message: string };

export type DenyRule = "not-in-allow" | "denied-range" | "other-name-inside" | "malformed" | "too-many";

/** Decides about a target, the same for every way that leads to it. Never rejects. */
export type NetworkPolicy = (target: Target) => Promise<Verdict>;

/** Throws `CallgateError` CONFIG_INVALID for an option that cannot be read. */
export function createNetworkPolicy({ allow, unsafeRanges = [], resolve = resolveHere }: NetworkOptions): NetworkPolicy {
  const allowed = new Set(parseAllowed(allow).map(writeTarget));
  const guard = createAddressGuard(unsafeRanges);
  return async (target) => {
    const name = writeTarget(target);
    if (!allowed.has(name)) return { kind: "denied", rule: "not-in-allow", message: `${name} is not in sandbox.network.allow. Allowed: ${[...allowed].join(", ") || "nothing"}. A person can add it there; a retry does not help` };
    let addresses: readonly string[];
    try {
      addresses = isIP(target.host) === 0 ? await resolve(target.host) : [target.host];
    } catch {
      return { kind: "unresolved", message: `the name ${target.host} could not be looked up on the host` };
    }
    if (addresses.length === 0) return { kind: "unresolved", message: `the name ${target.host} has no address` };
    for (const address of addresses) {
      const range = guard(address);
      // One such address among good ones is what a rebinding answer looks like: the name is refused as a whole.
      if (range !== undefined) return { kind: "denied", rule: "denied-range", message: `${name} leads to ${address}, in ${range.cidr}: ${range.is}. A person who means it can name the range in sandbox.network.unsafeRanges` };
    }
    return { kind: "allowed", addresses };
  };
}

async function resolveHere(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

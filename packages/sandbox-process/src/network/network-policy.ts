import { CallgateError } from "@callgate/contract";
import { createAddressGuard, judgeTarget, parseTarget, writeTarget } from "@callgate/http-client/network";
import type { Resolve, Target } from "@callgate/http-client/network";

/** What programs may reach. */
export interface NetworkOptions {
  /** `host:port`, exact. An empty list is no network. */
  readonly allow: readonly string[];
  /** Parts of the private, loopback, link-local and other special ranges that may be reached all the same, as CIDR. */
  readonly unsafeRanges?: readonly string[];
  /** All addresses of a name. Default: the resolver of this machine. */
  readonly resolve?: Resolve;
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
export function createNetworkPolicy({ allow, unsafeRanges = [], resolve }: NetworkOptions): NetworkPolicy {
  const allowed = new Set(parseAllowed(allow).map(writeTarget));
  const guard = createAddressGuard(unsafeRanges, "sandbox.network.unsafeRanges");
  return async (target) => {
    const name = writeTarget(target);
    if (!allowed.has(name)) return { kind: "denied", rule: "not-in-allow", message: `${name} is not in sandbox.network.allow. Allowed: ${[...allowed].join(", ") || "nothing"}. A person can add it there; a retry does not help` };
    const verdict = await judgeTarget(target, guard, resolve);
    if (verdict.kind !== "denied") return verdict;
    return { kind: "denied", rule: "denied-range", message: `${name} leads to ${verdict.address}, in ${verdict.range.cidr}: ${verdict.range.is}. A person who means it can name the range in sandbox.network.unsafeRanges` };
  };
}

/** The targets of a configuration. Throws `CallgateError` CONFIG_INVALID for what names none, wildcards included. */
function parseAllowed(allow: readonly string[]): readonly Target[] {
  return allow.map((text) => {
    const target = parseTarget(text);
    if (target === undefined) throw new CallgateError("CONFIG_INVALID", `sandbox.network.allow: "${text}" is not host:port. Write each host with its port, such as "api.example.com:443"; there are no wildcards`);
    return target;
  });
}

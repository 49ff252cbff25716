import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { AddressGuard, DeniedRange } from "./address-guard.ts";
import type { Target } from "./target.ts";

/** All addresses of a name. Rejects, or is empty, where it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export type TargetVerdict =
  /** These were judged; nothing else may be connected to. */
  | { readonly kind: "allowed"; readonly addresses: readonly string[] }
  | { readonly kind: "denied"; readonly address: string; readonly range: DeniedRange }
  /** The name has no address, or could not be looked up. */
  | { readonly kind: "unresolved"; readonly message: string };

/**
 * Looks a target up and judges every address it has. Whoever connects afterwards connects to one of those and looks
 * nothing up again, so that another answer of the same name (DNS rebinding) leads nowhere. Never rejects.
 */
export async function judgeTarget({ host }: Target, guard: AddressGuard, resolve: Resolve = resolveHere): Promise<TargetVerdict> {
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch {
    return { kind: "unresolved", message: `the name ${host} could not be looked up on the host` };
  }
  if (addresses.length === 0) return { kind: "unresolved", message: `the name ${host} has no address` };
  for (const address of addresses) {
    const range = guard(address);
    // One such address among good ones is what a rebinding answer looks like: the name is refused as a whole.
    if (range !== undefined) return { kind: "denied", address, range };
  }
  return { kind: "allowed", addresses };
}

async function resolveHere(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

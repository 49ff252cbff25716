import { CallgateError, localPrincipal } from "@callgate/contract";
import type { JsonObject, Principal } from "@callgate/contract";

/** A principal in which anything may be left out. */
export interface PrincipalInput {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly task?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly claims?: JsonObject | undefined;
}

/** Completes a principal with the local user's. */
export function completePrincipal(input: PrincipalInput): Principal {
  return { ...localPrincipal, ...definedOnly(input) };
}

/** What a configuration says of principals. */
export interface ConfiguredPrincipals {
  readonly principal?: PrincipalInput | undefined;
  readonly profiles?: Readonly<Record<string, PrincipalInput>> | undefined;
  /** Taken where none is named. */
  readonly profile?: string | undefined;
}

/**
 * The principal of a profile: what it leaves out is as `principal` says. Without a name it is the configuration's own
 * choice, and without that `principal` alone.
 *
 * Errors: CONFIG_INVALID for a profile that is not there: nobody acts as somebody else by a slip of the pen.
 */
export function profilePrincipal({ principal = {}, profiles = {}, profile }: ConfiguredPrincipals, named: string | undefined): PrincipalInput {
  const name = named ?? profile;
  if (name === undefined) return principal;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found === undefined) {
    const known = Object.keys(profiles);
    throw new CallgateError("CONFIG_INVALID", `There is no profile "${name}" in the configuration; ${known.length === 0 ? "it has none: add it under profiles" : `there are ${known.join(", ")}`}`);
  }
  return { ...principal, ...definedOnly(found) };
}

/** The fields that are there. */
export function definedOnly(input: PrincipalInput): Partial<Principal> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

import { localPrincipal } from "@callgate/contract";
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

/** The fields that are there. */
export function definedOnly(input: PrincipalInput): Partial<Principal> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

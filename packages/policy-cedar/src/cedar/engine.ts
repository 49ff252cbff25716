import { isAuthorizedPartial, preparsePolicySet, statefulIsAuthorized } from "@cedar-policy/cedar-wasm/nodejs";
import type { CedarValueJson, DetailedError, EntityJson, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { LRUCache } from "lru-cache";
import { uidOf } from "../policies/walk.ts";

/** A question to Cedar. */
export interface CedarRequest {
  readonly principal: EntityJson;
  readonly action: "call" | "result" | "run";
  readonly resource: EntityJson;
  readonly context: Readonly<Record<string, CedarValueJson>>;
}

/** A Cedar policy under the number it has among all policies. */
export interface NumberedPolicy {
  readonly index: number;
  /** A policy somebody wrote is its text: in JSON its whole numbers beyond 2^53 would be other ones. */
  readonly policy: PolicyJson | string;
}

export type CedarAnswer =
  /** Numbers of the policies that decided, in their order. */
  | { readonly kind: "answered"; readonly allowed: boolean; readonly matched: readonly number[] }
  /** A policy could not be evaluated. What it would have said is not known, so the call must not happen. */
  | { readonly kind: "faulted"; readonly index: number | undefined; readonly message: string };

/** Evaluates policies. Sets of them that come again are parsed once. */
export interface CedarEngine {
  evaluate(policies: readonly NumberedPolicy[], request: CedarRequest): CedarAnswer;
  /** Those policies that match whatever the context is, which is left open. */
  certain(policies: readonly NumberedPolicy[], request: Omit<CedarRequest, "context">, openContext: readonly string[]): readonly number[];
}

/** Parsed sets kept. Cedar cannot forget one, but a new one takes the place of the old. */
const maxSets = 512;

/** @param name of these sets among all of the process: Cedar keeps them by name */
export function createCedarEngine(name: string): CedarEngine {
  const free: string[] = [];
  let made = 0;
  const sets = new LRUCache<string, string>({ max: maxSets, dispose: (slot) => void free.push(slot) });

  function parsed(policies: readonly NumberedPolicy[]): string {
    const key = policies.map(({ index }) => index).join();
    const known = sets.get(key);
    if (known !== undefined) return known;
    const slot = free.pop() ?? `${name}:${made++}`;
    const answer = preparsePolicySet(slot, { staticPolicies: byNumber(policies) });
    if (answer.type === "failure") throw new Error(messageOf(answer.errors));
    sets.set(key, slot);
    return slot;
  }

  return {
    evaluate(policies, { principal, action, resource, context }) {
      try {
        const answer = statefulIsAuthorized({ principal: principal.uid, action: { type: "Action", id: action }, resource: resource.uid, context, preparsedPolicySetId: parsed(policies), entities: entitiesOf(principal, resource) });
        if (answer.type === "failure") return { kind: "faulted", index: undefined, message: messageOf(answer.errors) };
        const { decision, diagnostics } = answer.response;
        const [error] = diagnostics.errors;
        if (error !== undefined) return { kind: "faulted", index: Number(error.policyId), message: error.error.message };
        return { kind: "answered", allowed: decision === "allow", matched: numbers(diagnostics.reason) };
      } catch (fault) {
        return { kind: "faulted", index: undefined, message: fault instanceof Error ? fault.message : "Cedar failed" };
      }
    },
    certain(policies, { principal, action, resource }, openContext) {
      const context = Object.fromEntries(openContext.map((attr) => [attr, { __extn: { fn: "unknown", arg: attr } }]));
      const answer = isAuthorizedPartial({ principal: principal.uid, action: { type: "Action", id: action }, resource: resource.uid, context, policies: { staticPolicies: byNumber(policies) }, entities: entitiesOf(principal, resource) });
      return answer.type === "failure" ? [] : numbers(answer.response.satisfied);
    },
  };
}

function entitiesOf(principal: EntityJson, resource: EntityJson): EntityJson[] {
  const uid = uidOf(resource.uid);
  // A language is nothing but its name.
  return uid.type === "Language" ? [principal] : [principal, resource];
}

function byNumber(policies: readonly NumberedPolicy[]): Record<string, PolicyJson | string> {
  return Object.fromEntries(policies.map(({ index, policy }) => [String(index), policy]));
}

function numbers(ids: readonly string[]): readonly number[] {
  return ids.map(Number).sort((a, b) => a - b);
}

function messageOf(errors: readonly DetailedError[]): string {
  return errors.map(({ message }) => message).join("; ");
}

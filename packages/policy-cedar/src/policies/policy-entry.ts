import type { PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { usesOf } from "./uses.ts";
import type { Uses } from "./uses.ts";

/** One Cedar policy, from a rule or a file, with what is known of it before any call. */
export interface PolicyEntry {
  /** What records name it by. */
  readonly id: string;
  readonly place: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly json: PolicyJson;
  /** As its author wrote it, where that was Cedar. */
  readonly text?: string;
  readonly uses: Uses;
  readonly reason: string | undefined;
  readonly help: string | undefined;
  readonly from: string | undefined;
}

export function policyEntry({ id, place, json, text }: Pick<PolicyEntry, "id" | "place" | "json" | "text">): PolicyEntry {
  const uses = usesOf(json);
  const { reason, help, from } = json.annotations ?? {};
  const verdict = json.effect === "permit" ? "allow" : uses.approval ? "ask" : "deny";
  return { id, place, verdict, json, uses, reason, help, from, ...(text === undefined ? {} : { text }) };
}

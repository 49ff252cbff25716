import { formatPolicies, policyToText } from "@cedar-policy/cedar-wasm/nodejs";
import type { PolicyRuleView } from "@callgate/contract";
import type { PolicyEntry } from "./policies/policy-entry.ts";

/** A policy as it is shown: its own text, or the Cedar its rule compiles to. */
export function ruleView({ id, place, verdict, json, text }: PolicyEntry): PolicyRuleView {
  return { ruleId: id, place, verdict, cedar: text ?? cedarOf(json) };
}

function cedarOf(json: PolicyEntry["json"]): string {
  const written = policyToText(json);
  if (written.type === "failure") return JSON.stringify(json);
  const formatted = formatPolicies({ policyText: written.text, lineWidth: 100, indentWidth: 2 });
  return (formatted.type === "success" ? formatted.formatted_policy : written.text).trim();
}

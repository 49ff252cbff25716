import type { CallResult, ShapedValue } from "@callgate/contract";
import { errorText } from "../result/report.ts";
import { toModelText } from "./model-text.ts";

/** A value, or its outline with the way to the rest. */
export function shapedText(value: ShapedValue): string {
  if (value.kind === "whole") return toModelText(value.value);
  return `The value is ${value.totalTokens} tokens, over the budget. Its outline:\n${toModelText(value.outline)}\nAll of it: ${value.handle} (read_result with path, grep or search)`;
}

/** What a model reads of a direct call that has ended. */
export function callText({ outcome, shaped }: Pick<CallResult, "outcome" | "shaped">): string {
  if (outcome.kind === "ok") return shaped === undefined ? toModelText(undefined) : shapedText(shaped);
  const effect = outcome.effectStatus === "none" ? "Nothing was changed." : outcome.effectStatus === "done" ? "The change took place." : "Whether anything was changed is unknown; find out before you call again.";
  return `${errorText(outcome.error)}\n${effect}`;
}

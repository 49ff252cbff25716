import type { JsonValue } from "@callgate/contract";
import { modelView } from "./model-view.ts";
import { createOutliner, outlineDetails } from "./outline.ts";
import type { TokenCounter } from "./token-counter.ts";

/** A value that is to be shown, as it was decoded and, where it is known, as JSON text. */
export interface KnownValue {
  readonly value: unknown;
  /** What JSON.stringify(modelView(value)) would say, when it is at hand. */
  readonly json?: string;
  /** A tool's own short form, made only when it is needed. Undefined when it has none or it failed. */
  readonly summarize?: () => unknown;
}

export type FittedValue =
  | { readonly kind: "whole"; readonly tokens: number }
  | { readonly kind: "outline"; readonly outline: JsonValue; readonly tokens: number; readonly totalTokens: number };

/** A JSON text of the value as a model reads it. */
export function modelJson({ value, json }: KnownValue): string {
  return json ?? JSON.stringify(modelView(value));
}

/** The whole value when it is within `tokens`, else the most telling outline that is. */
export function fitValue(known: KnownValue, tokens: number, counter: TokenCounter): FittedValue {
  const json = modelJson(known);
  const whole = counter.within(json, tokens);
  if (whole !== undefined) return { kind: "whole", tokens: whole };
  const totalTokens = counter.estimate(json);
  return { kind: "outline", ...(fitSummary(known, tokens, counter) ?? fitOutline(known.value, tokens, counter)), totalTokens };
}

interface Fitted {
  readonly outline: JsonValue;
  readonly tokens: number;
}

/** A summary is bounded like everything else: one that is too long is outlined itself. */
function fitSummary(known: KnownValue, tokens: number, counter: TokenCounter): Fitted | undefined {
  const summary = known.summarize?.();
  if (summary === undefined) return undefined;
  const outline = modelView(summary);
  const whole = counter.within(JSON.stringify(outline), tokens);
  return whole === undefined ? fitOutline(summary, tokens, counter) : { outline, tokens: whole };
}

/** The most telling outline within `tokens`. Below some 20 tokens only the kind and size of the value are left. */
export function fitOutline(value: unknown, tokens: number, counter: TokenCounter): Fitted {
  const outliner = createOutliner(value);
  for (const detail of outlineDetails) {
    const outline = outliner.outline(detail);
    const count = counter.within(JSON.stringify(outline), tokens);
    if (count !== undefined) return { outline, tokens: count };
  }
  return { outline: outliner.least, tokens: counter.count(JSON.stringify(outliner.least)) };
}

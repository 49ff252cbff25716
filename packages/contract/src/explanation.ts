/** What a sentence of an explanation is about. */
export type ExplanationPart = "asked" | "checked" | "resumed" | "read" | "wrote" | "refused" | "undone" | "doubt" | "ended";

/**
 * A run in sentences for somebody who knows neither programs nor this software. The same record gives the same sentences;
 * no model has a part in it. Values stand in it as they do in the record: bounded, sensitive ones as hashes.
 */
export interface RunExplanation {
  readonly runId: string;
  readonly sentences: readonly { readonly part: ExplanationPart; readonly text: string }[];
}

import { modelView } from "../result/model-view.ts";

/** A value as the model reads it: text as it is, anything else as JSON, in which other values are named. */
export function toModelText(value: unknown): string {
  if (value === undefined) return "(no value)";
  return typeof value === "string" ? value : JSON.stringify(modelView(value));
}

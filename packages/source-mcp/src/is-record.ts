import type { ResultBody } from "./result-body.ts";

export function isRecord(value: unknown): value is ResultBody {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function firstString(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === "string" && value !== "");
}

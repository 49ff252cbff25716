import type { JsonSchema } from "@callgate/contract";
import { isRecord, subschemas } from "../schema/json-schema.ts";
import { refOf } from "../schema/schema-document.ts";

/** Keyword that counts; no schema from outside has it when `countSteps` is done. */
export const stepKeyword = "callgate:step";

/** References that may be followed for one value, whatever its size. */
const baseSteps = 100_000;
/** More of them for a large value: this many for each of its items and properties. */
const stepsPerNode = 20;
/** When a refusal is explained every failed try leaves an error behind, so less is allowed. */
const explainingSteps = 20_000;

/**
 * Bounds the work of one validation. Without references it is at most the size of the schema times that of the value;
 * with them ten nested choices of ten are 10,000,000,000 tries, and schema and value may come from people who know that.
 */
export interface StepBudget {
  /** A new value is about to be checked, or its refusal explained. */
  start(value: unknown, purpose: "check" | "explain"): void;
  /** One reference is followed. Throws past the bound. */
  step(): boolean;
}

export function createStepBudget(): StepBudget {
  let steps = 0;
  let allowed = baseSteps;
  let current: unknown;
  let mayGrow = true;
  return {
    start(value, purpose) {
      steps = 0;
      mayGrow = purpose === "check";
      allowed = mayGrow ? baseSteps : explainingSteps;
      current = value;
    },
    step() {
      steps += 1;
      if (steps <= allowed) return true;
      // Counted only now, because few values get here.
      if (mayGrow) allowed = Math.max(allowed, stepsPerNode * countNodes(current, Number.POSITIVE_INFINITY));
      if (steps <= allowed) return true;
      throw new Error(`checking the value against it takes more than ${allowed} steps`);
    },
  };
}

/** The schema with a counter at each reference. Changes the given copy. */
export function countSteps(schema: JsonSchema): JsonSchema {
  const open: unknown[] = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isRecord(next)) continue;
    open.push(...subschemas(next).map((sub) => sub.schema));
    const own = next as Record<string, unknown>;
    delete own[stepKeyword];
    if (refOf(next) !== undefined) own[stepKeyword] = true;
  }
  return schema;
}

/** Items and properties in all; anything above `bound` is as good as the bound. */
export function countNodes(value: unknown, bound: number): number {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && count <= bound) {
    const next = open.pop();
    count += 1;
    if (typeof next !== "object" || next === null) continue;
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (items.length > bound) return items.length;
    for (const item of items) open.push(item);
  }
  return count;
}

import type { JsonSchema } from "./json.ts";

/**
 * What calls of a run must keep to, whatever the policy allows beyond: a call of another tool, or with arguments of another
 * shape, is denied. It allows nothing by itself.
 */
export interface Capabilities {
  /** Named as the rule of a denial. */
  readonly id: string;
  /** Shapes of arguments, by qualified name. */
  readonly tools: Readonly<Record<string, JsonSchema>>;
}

/** The call on whose behalf a run was started. */
export interface RunParent {
  readonly runId: string;
  readonly callId: string;
}

import type { ToolView } from "@callgate/contract";

/** How much a finding weighs: a warning makes `callgate lint` end with exit code 1. */
export type LintLevel = "warning" | "note" | "off";

export const lintRuleIds = ["universal-tool", "many-parameters", "near-duplicate", "token-cost", "no-description", "unknown-arguments", "no-output", "no-examples", "no-errors"] as const;

export type LintRuleId = (typeof lintRuleIds)[number];

/** A tool as the rules see it. */
export interface LintedTool {
  readonly view: ToolView;
  /** Tokens of its whole definition as a model would be given it. */
  readonly tokens: number;
}

export interface LintRule {
  readonly id: LintRuleId;
  /** Where the configuration says nothing of it. */
  readonly level: Exclude<LintLevel, "off">;
  /** What it finds, for documents. */
  readonly finds: string;
  /** Why that is worth changing, and how. */
  readonly advice: string;
  /** What is wrong with which of all tools. */
  readonly check: (tools: readonly LintedTool[]) => readonly LintMatch[];
}

/** A tool that a rule has something to say of. */
export interface LintMatch {
  readonly tool: LintedTool;
  readonly message: string;
}

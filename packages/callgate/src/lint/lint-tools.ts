import type { ToolView } from "@callgate/contract";
import type { TokenCounter } from "@callgate/runtime";
import type { LintedTool, LintLevel, LintRuleId } from "./lint-rule.ts";
import { lintRules, tokensOf } from "./lint-rules.ts";

export interface LintFinding {
  readonly rule: LintRuleId;
  readonly level: Exclude<LintLevel, "off">;
  readonly tool: string;
  readonly message: string;
}

export interface LintReport {
  readonly findings: readonly LintFinding[];
  /** Dearest first. */
  readonly tools: readonly { readonly tool: string; readonly tokens: number }[];
  readonly tokens: number;
}

/**
 * Reviews tools as an API.
 *
 * @param levels what the configuration says of rules; those it does not name keep their own level
 */
export function lintTools(views: readonly ToolView[], { counter, levels = {} }: { readonly counter: Pick<TokenCounter, "estimate">; readonly levels?: Readonly<Partial<Record<LintRuleId, LintLevel>>> }): LintReport {
  const linted = views.map((view): LintedTool => ({ view, tokens: counter.estimate(definitionText(view)) }));
  const findings = lintRules.flatMap(({ id, level: own, check }) => {
    const level = levels[id] ?? own;
    if (level === "off") return [];
    return check(linted).map(({ tool, message }): LintFinding => ({ rule: id, level, tool: tool.view.name, message }));
  });
  return { findings, tools: linted.map(({ view, tokens }) => ({ tool: view.name, tokens })).sort((a, b) => b.tokens - a.tokens), tokens: tokensOf(linted) };
}

/** As a client hands a tool to a model. */
function definitionText({ name, spec: { description, input, output } }: ToolView): string {
  return JSON.stringify({ name, description, inputSchema: input, ...(output === undefined ? {} : { outputSchema: output }) });
}

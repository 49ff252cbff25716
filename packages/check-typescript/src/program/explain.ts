import ts from "typescript";
import type { Compiled } from "./compiler.ts";
import type { Environment } from "./environment.ts";
import { error, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { explainArguments } from "./explain-arguments.ts";
import { explainMember } from "./explain-member.ts";
import { explainName } from "./explain-name.ts";
import { explainValue } from "./explain-value.ts";
import { severityOf } from "./severity.ts";
import type { ToolUses } from "./tool-uses.ts";
import { nodeAt } from "./node-at.ts";
import { declarationOf } from "./show-type.ts";

export interface Explaining {
  readonly compiled: Compiled;
  readonly environment: Environment;
  readonly uses: ToolUses;
}

/** Says what TypeScript found in words that help to repair it; undefined for what does not concern a program. */
export function explain(diagnostic: ts.Diagnostic, context: Explaining): Finding | undefined {
  const { compiled, environment, uses } = context;
  const offset = diagnostic.start ?? 0;
  const node = nodeAt(compiled.file, offset, diagnostic.length ?? 0);
  const severity = severityOf(diagnostic, node, context);
  if (severity === undefined) return undefined;
  const call = toolCallAround(node, uses);
  const special = explainMember(diagnostic, node, context) ?? explainName(diagnostic, node, environment) ?? explainArguments(diagnostic, node, { context, tool: call?.tool.name }) ?? explainValue(diagnostic, node, context);
  const { suggestions = [], ...said } = special ?? { message: inWords(diagnostic, call?.tool.name) };
  const made = (severity === "error" ? error : warning)(`TS${diagnostic.code}`, offset, suggestions.length === 0 ? said : { ...said, suggestions });
  const declaration = said.declaration ?? (call === undefined ? undefined : declarationOf(call.tool.name, environment));
  return declaration === undefined ? made : { ...made, declaration };
}

/** The tool call in whose arguments a node stands. */
export function toolCallAround(node: ts.Node, uses: ToolUses): ReturnType<ToolUses["callOf"]> {
  for (let at: ts.Node | undefined = node; at !== undefined && !ts.isBlock(at); at = at.parent) {
    const call = uses.callOf(at);
    if (call !== undefined) return call;
  }
  return undefined;
}

function inWords(diagnostic: ts.Diagnostic, tool: string | undefined): string {
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n").split("\n").slice(0, 4).map((line) => line.trim()).join(" ");
  const bounded = text.length > 600 ? `${text.slice(0, 599)}…` : text;
  return tool === undefined ? bounded : `In the call of ${tool}: ${bounded}`;
}

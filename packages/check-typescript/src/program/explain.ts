import ts from "./typescript.cjs";
import { error, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { explainArguments } from "./explain-arguments.ts";
import { explainMember } from "./explain-member.ts";
import { explainName } from "./explain-name.ts";
import { explainValue } from "./explain-value.ts";
import { toolCallAround } from "./explaining.ts";
import type { Explaining } from "./explaining.ts";
import { severityOf } from "./severity.ts";
import { nodeAt } from "./node-at.ts";
import { declarationOf } from "./show-type.ts";

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

function inWords(diagnostic: ts.Diagnostic, tool: string | undefined): string {
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n").split("\n").slice(0, 4).map((line) => line.trim()).join(" ");
  const bounded = text.length > 600 ? `${text.slice(0, 599)}…` : text;
  return tool === undefined ? bounded : `In the call of ${tool}: ${bounded}`;
}

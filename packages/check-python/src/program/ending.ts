import type { ProgramForm, Repair } from "@callgate/contract";
import type { SyntaxNode } from "@lezer/common";
import { error, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { childrenOf, isModuleLevel, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";
import type { ToolUses } from "./tool-uses.ts";

/** How a program gives its value, and what is executed for it. */
export interface Ending {
  readonly form: ProgramForm;
  /** The text as it is executed: a `return` of the last line is taken off it. */
  readonly code: string;
  /** Offset and length of what was taken off. */
  readonly cut: { readonly from: number; readonly length: number } | undefined;
  readonly repairs: readonly (Omit<Repair, "line" | "column"> & { readonly offset: number })[];
  readonly findings: readonly Finding[];
}

/**
 * The value of a program is its last expression, as in a notebook. Models end programs with `return value` all the same:
 * as the last statement it can only mean that value; anywhere else outside a function it is an error.
 */
export function readEnding(tree: PythonTree, uses: ToolUses): Ending {
  const statements = childrenOf(tree.top).filter(({ name }) => name.endsWith("Statement") || name.endsWith("Definition"));
  const last = statements.at(-1);
  const findings: Finding[] = [];
  let cut: Ending["cut"];
  for (const node of tree.returns.filter((found) => isModuleLevel(found))) {
    const value = childrenOf(node)[1];
    const isOnLine = value !== undefined && !/[\r\n]/.test(tree.text.slice(node.from, value.from));
    if (node.from === last?.from && isOnLine) cut = { from: node.from, length: value.from - node.from };
    else findings.push(error("RETURN_OUTSIDE_FUNCTION", node.from, "return works only in a function, or as the last line of the program. Put the program into def main(): … and end with main()"));
  }
  const form = statements.length === 1 && last?.name === "ExpressionStatement" ? "expression" : "script";
  const repairs = cut === undefined ? [] : [{ kind: "return_removed" as const, message: "Took the value of the last line's return as the value of the program", offset: cut.from }];
  const code = cut === undefined ? tree.text : `${tree.text.slice(0, cut.from)}${tree.text.slice(cut.from + cut.length)}`;
  return { form, code, cut, repairs, findings: [...findings, ...droppedResults(statements, tree, uses), ...(last === undefined || cut !== undefined ? [] : noValue(last, tree))] };
}

/** A call that only reads, as a statement whose value nobody sees. */
function droppedResults(statements: readonly SyntaxNode[], tree: PythonTree, uses: ToolUses): Finding[] {
  return uses.calls.flatMap(({ node, tool, isAsync }) => {
    const whole = node.parent?.name === "AwaitExpression" ? node.parent : node;
    if (tool.effect !== "read" || whole.parent?.name !== "ExpressionStatement" || whole.parent.from === statements.at(-1)?.from || (isAsync && whole === node)) return [];
    return [warning("RESULT_DROPPED", node.from, `The result of ${tool.name} is not used; it only reads, so the call does nothing. Keep it: result = ${textOf(whole, tree).slice(0, 60)}`)];
  });
}

/** Calls that show something without a value: output, files, pictures. */
const showing: ReadonlySet<string> = new Set(["print", "text", "write", "writelines", "writerow", "writerows", "write_text", "write_bytes", "savefig", "save", "plot", "show", "dump", "to_csv", "to_json", "to_excel"]);

function noValue(last: SyntaxNode, tree: PythonTree): Finding[] {
  const isSilenced = tree.text.trimEnd().endsWith(";");
  if ((last.name === "ExpressionStatement" && !isSilenced) || last.name === "ReturnStatement") return [];
  if (tree.names.some((name) => showing.has(textOf(name, tree)))) return [{ severity: "advice", code: "NO_VALUE", offset: last.from, message: "The program has no value; only what it prints or writes comes back. End it with the value as an expression to get it as data" }];
  const target = last.name === "AssignStatement" || last.name === "UpdateStatement" ? last.firstChild : null;
  const hint = target?.name === "VariableName" ? textOf(target, tree) : last.name === "FunctionDefinition" ? `${textOf(last.getChild("VariableName") ?? last, tree).slice(0, 60)}()` : undefined;
  return [warning("NO_VALUE", last.from, { message: `The program has no value: its result will be None. End it with ${hint ?? "the value"} as an expression on its own line`, ...(hint === undefined ? {} : { suggestions: [hint] }) })];
}

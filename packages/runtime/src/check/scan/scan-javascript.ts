import type { Tree } from "@lezer/common";
import type { ScanFinding } from "./scan-rules.ts";

/** Finds uses of what makes code out of text or starts programs, in code only. */
export function scanJavaScript(text: string, tree: Tree): ScanFinding[] {
  const findings: ScanFinding[] = [];
  tree.iterate({
    enter({ name, node, from, to }) {
      const word = to - from < 40 ? text.slice(from, to) : "";
      const call = node.parent?.name === "CallExpression" || node.parent?.name === "NewExpression";
      if (name === "VariableName" && (word === "eval" || (word === "Function" && call))) findings.push({ rule: "JS_EVAL", offset: from });
      if (name === "PropertyName" && word === "constructor" && (node.parent?.parent?.name === "CallExpression" || node.parent?.parent?.name === "MemberExpression")) findings.push({ rule: "JS_CONSTRUCTOR", offset: from });
      const isModule = name === "String" && (node.parent?.name === "ImportDeclaration" || node.parent?.name === "DynamicImport" || node.parent?.name === "ArgList");
      if (isModule && /^["'](?:node:)?child_process["']$/.test(word)) findings.push({ rule: "JS_CHILD_PROCESS", offset: from });
    },
  });
  return findings;
}

import ts from "./typescript.cjs";
import { didYouMean, nearest } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { Explaining } from "./explaining.ts";
import { callAround, isJsonParse, isPromise } from "./severity.ts";
import { shortType } from "./show-type.ts";

const maybeNothing: ReadonlySet<number> = new Set([2531, 2532, 2533, 18047, 18048, 18049, 2721, 2722, 2723]);

/** A value that is not what it is used as. */
export function explainValue(diagnostic: ts.Diagnostic, node: ts.Node, { compiled }: Explaining): Said | undefined {
  const text = node.getText().replace(/\s+/g, " ").slice(0, 60);
  if (maybeNothing.has(diagnostic.code)) return { message: `${text} may be undefined or null; use ?. or ??, or test it first` };
  if (!ts.isExpression(node)) return undefined;
  const type = compiled.checker.getTypeAtLocation(node);
  if (isPromise(type, compiled)) return { message: `${text} is a promise: it was not awaited. Write await before the call that makes it` };
  const call = callAround(node);
  if (diagnostic.code === 2345 && call !== undefined && isJsonParse(call)) return { message: `JSON.parse takes text, and ${text} is already data: ${shortType(type, compiled)}. Use it as it is` };
  if (diagnostic.code === 2367 || diagnostic.code === 2678) return explainComparison(node, compiled);
  return undefined;
}

/** `status === "opne"`: the literal is none of those the other side can be. */
function explainComparison(node: ts.Node, { checker }: Explaining["compiled"]): Said | undefined {
  const comparison = ts.isBinaryExpression(node) ? node : ts.isBinaryExpression(node.parent) ? node.parent : undefined;
  if (comparison === undefined) return undefined;
  const [left, right] = [comparison.left, comparison.right];
  const [literal, other] = ts.isStringLiteralLike(right) ? [right, left] : ts.isStringLiteralLike(left) ? [left, right] : [];
  if (literal === undefined || other === undefined) return undefined;
  const type = checker.getTypeAtLocation(other);
  const values = (type.isUnion() ? type.types : [type]).flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
  if (values.length === 0) return undefined;
  const near = nearest(literal.text, values).names;
  return { message: `${other.getText().slice(0, 60)} is never "${literal.text}"${didYouMean(near.map((value) => `"${value}"`)) || "."} It is ${values.slice(0, 12).map((value) => `"${value}"`).join(" or ")}`, suggestions: near };
}

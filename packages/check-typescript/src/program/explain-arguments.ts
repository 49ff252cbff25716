import ts from "./typescript.cjs";
import { didYouMean, nearest } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { Explaining } from "./explaining.ts";
import { shortType } from "./show-type.ts";

interface InCall {
  readonly context: Explaining;
  /** Qualified name of the tool in whose call the place is. */
  readonly tool: string | undefined;
}

/** What is wrong with what a tool is given: a field it does not take, one that is missing, no argument at all. */
export function explainArguments(diagnostic: ts.Diagnostic, node: ts.Node, { context, tool }: InCall): Said | undefined {
  if (diagnostic.code === 2353 || diagnostic.code === 2561) return explainExtra(node, { context, tool });
  if (tool === undefined) return undefined;
  if (diagnostic.code === 2554) return { message: `${tool} takes one object with its arguments; ${expectedBy(node, context) ?? "see its declaration"}` };
  const missing = missingFields(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
  if (missing !== undefined) return { message: `${tool} also needs ${missing}` };
  const field = ts.isPropertyAssignment(node.parent) && node.parent.name === node ? node.parent : undefined;
  if (diagnostic.code !== 2322 || field === undefined) return undefined;
  const { checker } = context.compiled;
  const wanted = checker.getContextualType(field.initializer);
  if (wanted === undefined) return undefined;
  const exact = checker.getTypeAtLocation(field.initializer);
  const given = wanted.isUnion() || wanted.isLiteral() ? exact : checker.getBaseTypeOfLiteralType(exact);
  return { message: `${tool} takes ${field.name.getText()} as ${shortType(wanted, context.compiled)}, not ${shortType(given, context.compiled)}` };
}

function explainExtra(node: ts.Node, { context, tool }: InCall): Said | undefined {
  const property = ts.isObjectLiteralElementLike(node) ? node : node.parent;
  if (!ts.isObjectLiteralElementLike(property) || !ts.isObjectLiteralExpression(property.parent) || property.name === undefined) return undefined;
  const { checker } = context.compiled;
  const wanted = checker.getContextualType(property.parent);
  if (wanted === undefined) return undefined;
  const written = property.parent.properties.flatMap(({ name }) => (name === undefined ? [] : [name.getText()]));
  const fields = checker.getPropertiesOfType(checker.getNonNullableType(wanted));
  const free = fields.map(({ name }) => name).filter((name) => !written.includes(name));
  const name = property.name.getText();
  const near = nearest(name, free).names;
  // A single required field that is not written is what an unknown one was meant to be.
  const required = fields.filter((field) => (field.flags & ts.SymbolFlags.Optional) === 0 && free.includes(field.name)).map((field) => field.name);
  const suggestions = near.length > 0 ? near : required.slice(0, 3);
  const all = fields.map((field) => ((field.flags & ts.SymbolFlags.Optional) === 0 ? field.name : `${field.name}?`));
  const where = property.parent.parent !== undefined && ts.isPropertyAssignment(property.parent.parent) ? `${property.parent.parent.name.getText()} of ` : "";
  const subject = tool === undefined ? "This object" : `${where}${tool}`;
  return { message: `${subject} takes no ${name}${didYouMean(suggestions) || "."} It takes ${all.slice(0, 20).join(", ") || "nothing"}${all.length > 20 ? ", …" : ""}`, suggestions };
}

function expectedBy(node: ts.Node, { compiled }: Explaining): string | undefined {
  let at: ts.Node = node;
  while (!ts.isCallExpression(at)) {
    if (at.parent === undefined) return undefined;
    at = at.parent;
  }
  const parameter = compiled.checker.getResolvedSignature(at)?.parameters[0];
  return parameter === undefined ? undefined : `it takes ${shortType(compiled.checker.getTypeOfSymbol(parameter), compiled)}`;
}

/** The fields a message of TypeScript says are missing. */
function missingFields(message: string): string | undefined {
  const one = /Property '([^']+)' is missing in type/.exec(message)?.[1];
  if (one !== undefined) return one;
  return /is missing the following properties from type [^\n]*': ([^\n]+)/.exec(message)?.[1]?.replace(/\.$/, "");
}

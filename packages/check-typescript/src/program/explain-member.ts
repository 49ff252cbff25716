import ts from "./typescript.cjs";
import { didYouMean, nearest } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { Explaining } from "./explaining.ts";
import { namespaceList } from "./imports.ts";
import { isPromise } from "./severity.ts";
import { shortType } from "./show-type.ts";
import { referenceOf } from "./tool-uses.ts";

/** A member that is not there: a tool, a namespace or a field. */
export function explainMember(diagnostic: ts.Diagnostic, node: ts.Node, { compiled, environment }: Explaining): Said | undefined {
  const access = missingAccess(diagnostic, node);
  if (access === undefined) return undefined;
  const { target, name } = access;
  const { checker } = compiled;
  const reference = referenceOf(target, checker, environment);
  if (reference?.kind === "tools") {
    const away = environment.unavailable.get(name);
    if (away !== undefined) return { code: "SOURCE_UNAVAILABLE", message: away };
    const near = nearest(name, environment.namespaces.keys()).names;
    const owners = [...environment.namespaces.values()].filter(({ tools }) => tools.has(name)).map(({ namespace }) => `tools.${namespace}.${name}`);
    if (owners.length > 0) return { message: `${name} is a tool, not a namespace; write ${owners.join(" or ")}`, suggestions: owners };
    return { message: `There is no namespace ${name} in tools${didYouMean(near) || "."} ${namespaceList(environment)}`, suggestions: near };
  }
  if (reference?.kind === "namespace") {
    const near = nearest(name, reference.known.tools.keys()).names;
    const elsewhere = [...environment.namespaces.values()].filter(({ tools }) => tools.has(name)).map(({ namespace }) => `tools.${namespace}.${name}`);
    const suggestions = [...elsewhere, ...near];
    const some = [...reference.known.tools.keys()].slice(0, 12).join(", ");
    return { message: `There is no tool ${name} in tools.${reference.known.namespace}${didYouMean(suggestions) || "."} It has ${some}${reference.known.tools.size > 12 ? ", …" : ""}`, suggestions };
  }
  const type = checker.getTypeAtLocation(target);
  if (isPromise(type, compiled)) return { message: `${short(target)} is a promise: it was not awaited. Write await before the call that makes it` };
  return explainField(name, target, { type, compiled });
}

function explainField(name: string, target: ts.Expression, { type, compiled }: { readonly type: ts.Type; readonly compiled: Explaining["compiled"] }): Said {
  const fields = compiled.checker.getPropertiesOfType(compiled.checker.getApparentType(type)).map((property) => property.name).filter((field) => !field.startsWith("__@"));
  const near = nearest(name, fields).names;
  const isData = (type.flags & ts.TypeFlags.Object) !== 0 && !compiled.checker.isArrayType(type) && compiled.checker.getSignaturesOfType(type, ts.SignatureKind.Call).length === 0;
  const has = isData && fields.length > 0 ? ` It has ${fields.slice(0, 20).join(", ")}${fields.length > 20 ? ", …" : ""}` : ` It is ${shortType(type, compiled)}`;
  return { message: `There is no field ${name} on ${short(target)}${didYouMean(near) || "."}${has}`, suggestions: near, declaration: shortType(type, compiled) };
}

function missingAccess(diagnostic: ts.Diagnostic, node: ts.Node): { readonly target: ts.Expression; readonly name: string } | undefined {
  if (diagnostic.code === 2339 || diagnostic.code === 2551) {
    if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) return { target: node.parent.expression, name: node.parent.name.text };
    if (!ts.isIdentifier(node) || !ts.isBindingElement(node.parent)) return undefined;
    // Of nested patterns only the outermost has an expression to name.
    const declaration = node.parent.parent.parent;
    return ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? { target: declaration.initializer, name: node.text } : undefined;
  }
  if (diagnostic.code !== 7053) return undefined;
  const access = ts.isElementAccessExpression(node) ? node : ts.isElementAccessExpression(node.parent) ? node.parent : undefined;
  return access !== undefined && ts.isStringLiteralLike(access.argumentExpression) ? { target: access.expression, name: access.argumentExpression.text } : undefined;
}

function short(node: ts.Node): string {
  const text = node.getText().replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

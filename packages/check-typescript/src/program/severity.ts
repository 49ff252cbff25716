import ts from "./typescript.cjs";
import type { Compiled } from "./compiler.ts";
import type { Environment } from "./environment.ts";
import type { ToolUses } from "./tool-uses.ts";
import { isAssigned, isInType } from "./walk.ts";

interface Judged {
  readonly compiled: Compiled;
  readonly environment: Environment;
  readonly uses: ToolUses;
}

/** Says nothing about what the program does: types that were not written, what the wrapper moved, style. */
const ignored: ReadonlySet<number> = new Set([
  7005, 7006, 7008, 7009, 7010, 7011, 7012, 7013, 7014, 7015, 7016, 7017, 7018, 7019, 7022, 7023, 7024, 7025, 7031, 7032, 7033, 7034, 7041, 7051, 7056, 7057,
  1235, 1323, 2354, 2695, 2578, 6133, 6192, 6196, 6198, 7027, 7028, 7029, 7030, 2683,
]);

/** True of many programs that work: a value that is there although its type says it may not be, and what only types see. */
const doubtful: ReadonlySet<number> = new Set([
  // possibly null or undefined, unknown
  2531, 2532, 2533, 18046, 18047, 18048, 18049, 2571, 2721, 2722, 2723, 2454, 2538,
  // never or always true
  2367, 2774, 2869, 2870, 2871, 2872, 2873, 2839, 2845, 2678,
  // arithmetic on dates and numeric strings, spread arguments, casts, read-only fields, missing returns
  2362, 2363, 2556, 2352, 2540, 2542, 2355, 2366, 2847, 2790, 2564,
]);

const assignability: ReadonlySet<number> = new Set([2322, 2345, 2769, 2739, 2740, 2741, 2559, 2560, 2353, 2561, 2379, 2375, 2412, 2554, 2555]);

/** Whether a finding of TypeScript refuses a program, warns, or says nothing; undefined leaves it out. */
export function severityOf(diagnostic: ts.Diagnostic, node: ts.Node, context: Judged): "error" | "warning" | undefined {
  const { code } = diagnostic;
  if (ignored.has(code) || (code >= 80_000 && code < 90_000)) return undefined;
  if (code >= 1000 && code < 2000) return "error";
  if (isPromise(typeOfSubject(node, context.compiled), context.compiled)) return "error";
  if (code === 7053) return indexing(node, context);
  if ((code === 2362 || code === 2363) && context.compiled.checker.typeToString(context.compiled.checker.getTypeAtLocation(node)) === "Date") return undefined;
  if (doubtful.has(code)) return "warning";
  if (isInType(node)) return "warning";
  if (code === 2339 || code === 2551) return missingMember(node, context);
  if (code === 2304 || code === 2552 || !assignability.has(code)) return "error";
  return assigning(diagnostic, node, context);
}

function typeOfSubject(node: ts.Node, { checker }: Compiled): ts.Type | undefined {
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) return checker.getTypeAtLocation(node.parent.expression);
  if (ts.isPropertyAssignment(node.parent) && node.parent.name === node) return checker.getTypeAtLocation(node.parent.initializer);
  return ts.isExpression(node) ? checker.getTypeAtLocation(node) : undefined;
}

export function isPromise(type: ts.Type | undefined, { checker }: Compiled): boolean {
  if (type === undefined || (type.flags & ts.TypeFlags.Any) !== 0) return false;
  return type.symbol?.name === "Promise" && checker.getPropertyOfType(type, "then") !== undefined;
}

/** `counts[key]` on an object of the program's own works at run time; a literal name on declared data is a misspelt field. */
function indexing(node: ts.Node, context: Judged): "error" | undefined {
  const access = ts.isElementAccessExpression(node) ? node : ts.isElementAccessExpression(node.parent) ? node.parent : undefined;
  if (access === undefined || !ts.isStringLiteralLike(access.argumentExpression)) return undefined;
  return isOwnType(context.compiled.checker.getTypeAtLocation(access.expression), context.compiled) ? undefined : "error";
}

function missingMember(node: ts.Node, { compiled }: Judged): "error" | "warning" | undefined {
  const access = node.parent;
  if (!ts.isPropertyAccessExpression(access) || access.name !== node) return "error";
  const type = compiled.checker.getTypeAtLocation(access.expression);
  const present = type.isUnion() ? type.types.filter((member) => compiled.checker.getPropertyOfType(compiled.checker.getApparentType(member), access.name.text) !== undefined) : [];
  if (present.length > 0) return "warning";
  if ((type.flags & (ts.TypeFlags.Never | ts.TypeFlags.Unknown | ts.TypeFlags.NonPrimitive)) !== 0) return "warning";
  // Objects of the program's own grow as it goes.
  return isOwnType(type, compiled) && (isAssigned(access) || compiled.checker.getPropertiesOfType(type).length === 0) ? undefined : "error";
}

/** An object the program made itself, without writing a type for it. */
function isOwnType(type: ts.Type, { file }: Compiled): boolean {
  const declaration = type.symbol?.declarations?.[0];
  return declaration !== undefined && declaration.getSourceFile() === file && ts.isObjectLiteralExpression(declaration);
}

function assigning(diagnostic: ts.Diagnostic, node: ts.Node, context: Judged): "error" | "warning" | undefined {
  const inner = innermost(diagnostic.messageText);
  // `string | undefined` where a string is needed: the value may well be there. A plain undefined never is.
  if (typeof diagnostic.messageText !== "string" && /^Type '(?:undefined|null)' is not assignable/.test(inner)) return "warning";
  // A text whose type was widened on the way (`const query = { status: "open" }`) may well be one of the words; the tool's
  // schema judges it before anything happens. A word that is written out and is none of them stays an error.
  if (/^Type '(?:string|number)' is not assignable to type '(?:"[^"]*"|-?\d+)(?: \| (?:"[^"]*"|-?\d+|null|undefined))*'\.?$/.test(inner)) return "warning";
  const call = callAround(node);
  if (call === undefined || context.uses.callOf(call) !== undefined) return "error";
  const declaration = context.compiled.checker.getResolvedSignature(call)?.declaration;
  const ofLibrary = declaration !== undefined && context.compiled.program.isSourceFileDefaultLibrary(declaration.getSourceFile());
  if (!ofLibrary || isJsonParse(call)) return "error";
  // parseInt(1.5), encodeURIComponent(true): the library turns primitives into what it needs.
  const given = ts.isExpression(node) ? context.compiled.checker.getTypeAtLocation(node) : undefined;
  return given !== undefined && (given.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike)) !== 0 ? undefined : "warning";
}

function innermost(message: string | ts.DiagnosticMessageChain): string {
  if (typeof message === "string") return message;
  let at = message;
  while (at.next?.[0] !== undefined) at = at.next[0];
  return at.messageText;
}

/** A tool's structured result is no text: parsing it again fails at run time. */
export function isJsonParse(call: ts.CallExpression | ts.NewExpression): boolean {
  return ts.isPropertyAccessExpression(call.expression) && call.expression.name.text === "parse" && call.expression.expression.getText() === "JSON";
}

export function callAround(node: ts.Node): ts.CallExpression | ts.NewExpression | undefined {
  for (let at: ts.Node = node; !ts.isStatement(at) && at.parent !== undefined; at = at.parent) {
    if (ts.isVariableDeclaration(at) || ts.isFunctionLike(at)) return undefined;
    if (ts.isCallExpression(at.parent) || ts.isNewExpression(at.parent)) return at.parent;
  }
  return undefined;
}

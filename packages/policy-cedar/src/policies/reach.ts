import type { EntityJson, Expr, PatternElem, PolicyJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import { nodeOf, pathOf, uidOf } from "./walk.ts";

/** Whether a policy matches, as far as principal and resource alone tell. `maybe`: it depends on the call, or on more than is looked at here. */
export type Reach = "yes" | "no" | "maybe";

/** Who and what is known. Without a principal: any. */
export interface Pair {
  readonly principal?: EntityJson;
  readonly action: string;
  readonly resource: EntityJson;
}

/**
 * Settles from the names alone that a policy cannot match, so that Cedar is not asked about it. It never says "no" of a
 * policy that Cedar would find matching, nor "yes" of one that it would not; in doubt it says "maybe".
 */
export function reachOf({ principal, action, resource, conditions }: PolicyJson, pair: Pair): Reach {
  const heads = [headReach(principal, pair.principal), actionReach(action, pair.action), headReach(resource, pair.resource)];
  if (heads.includes("no")) return "no";
  const bodies = conditions.map(({ kind, body }) => (kind === "when" ? evaluate(body, pair) : opposite(evaluate(body, pair))));
  return both([...heads, ...bodies]);
}

function headReach(constraint: PolicyJson["principal"], entity: EntityJson | undefined): Reach {
  switch (constraint.op) {
    case "All":
      return "yes";
    case "is": {
      if (entity === undefined) return "maybe";
      const inner = constraint.in === undefined ? "yes" : "entity" in constraint.in ? known(isWithin(entity, uidOf(constraint.in.entity))) : "maybe";
      return both([known(entityType(entity) === constraint.entity_type), inner]);
    }
    case "==":
    case "in": {
      if (entity === undefined || !("entity" in constraint)) return "maybe";
      const wanted = uidOf(constraint.entity);
      if (isUnnamed(entity, wanted)) return "maybe";
      return known(constraint.op === "==" ? isSame(uidOf(entity.uid), wanted) : isWithin(entity, wanted));
    }
  }
}

function actionReach(constraint: PolicyJson["action"], action: string): Reach {
  if (constraint.op === "All") return "yes";
  const wanted = "entities" in constraint ? constraint.entities : "entity" in constraint ? [constraint.entity] : undefined;
  return wanted === undefined ? "maybe" : known(wanted.some((uid) => uidOf(uid).id === action));
}

function evaluate(expression: Expr, pair: Pair): Reach {
  const { operator, operands } = nodeOf(expression);
  switch (operator) {
    case "Value":
      return operands === true ? "yes" : operands === false ? "no" : "maybe";
    case "&&":
      return both(sides(operands).map((side) => evaluate(side, pair)));
    case "||":
      return opposite(both(sides(operands).map((side) => opposite(evaluate(side, pair)))));
    case "!":
      return opposite(evaluate((operands as { readonly arg: Expr }).arg, pair));
    case "in":
    case "==":
      return relation(operator, sides(operands), pair);
    case "like":
      return likeReach(operands as { readonly left: Expr; readonly pattern: readonly PatternElem[] }, pair);
    default:
      return "maybe";
  }
}

function relation(operator: "in" | "==", [left, right]: readonly [Expr, Expr], pair: Pair): Reach {
  const text = textOf(left, pair);
  if (text !== undefined) return operator === "==" && "Value" in right && typeof right["Value"] === "string" ? known(text === right["Value"]) : "maybe";
  const entity = entityOf(left, pair);
  const wanted = entityLiterals(right);
  if (entity === undefined || wanted === undefined) return "maybe";
  if (wanted.some((one) => isUnnamed(entity, one))) return "maybe";
  if (operator === "in") return known(wanted.some((one) => isWithin(entity, one)));
  const [only] = wanted;
  return only !== undefined && !("Set" in right) ? known(isSame(uidOf(entity.uid), only)) : "maybe";
}

function likeReach({ left, pattern }: { readonly left: Expr; readonly pattern: readonly PatternElem[] }, pair: Pair): Reach {
  const text = textOf(left, pair);
  return text === undefined ? "maybe" : known(isLike(pattern, text));
}

/** `resource.name` and the like: texts every entity of its kind has. */
function textOf(expression: Expr, { principal, resource }: Pair): string | undefined {
  const path = pathOf(expression);
  if (path?.length !== 2) return undefined;
  const [root, attr = ""] = path;
  const entity = root === "principal" ? principal : root === "resource" ? resource : undefined;
  const text = entity !== undefined && Object.hasOwn(entity.attrs, attr) ? entity.attrs[attr] : undefined;
  return typeof text === "string" ? text : undefined;
}

function entityOf(expression: Expr, { principal, resource }: Pair): EntityJson | undefined {
  const [root, ...more] = pathOf(expression) ?? [];
  return more.length > 0 ? undefined : root === "principal" ? principal : root === "resource" ? resource : undefined;
}

/** An entity, or a set of nothing but entities. */
function entityLiterals(expression: Expr): readonly TypeAndId[] | undefined {
  const { operator, operands } = nodeOf(expression);
  if (operator === "Set") {
    const all = (operands as readonly Expr[]).map(entityLiterals);
    return all.every((one) => one?.length === 1) ? all.flatMap((one) => one ?? []) : undefined;
  }
  return operator === "Value" && typeof operands === "object" && operands !== null && "__entity" in operands ? [operands.__entity as TypeAndId] : undefined;
}

/** Parts between the wildcards, each found as early as it can be: linear in the text for each. */
function isLike(pattern: readonly PatternElem[], text: string): boolean {
  const parts = [""];
  for (const element of pattern) {
    if (element === "Wildcard") parts.push("");
    else parts.push(`${parts.pop() ?? ""}${element.Literal}`);
  }
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** A tool whose name is not known may be any. */
function isUnnamed({ uid }: EntityJson, wanted: TypeAndId): boolean {
  return uidOf(uid).id === "" && uidOf(uid).type === "Tool" && wanted.type === "Tool";
}

function isWithin({ uid, parents }: EntityJson, wanted: TypeAndId): boolean {
  return isSame(uidOf(uid), wanted) || parents.some((parent) => isSame(uidOf(parent), wanted));
}

function isSame(one: TypeAndId, other: TypeAndId): boolean {
  return one.type === other.type && one.id === other.id;
}

function entityType({ uid }: EntityJson): string {
  return uidOf(uid).type;
}

function sides(operands: unknown): readonly [Expr, Expr] {
  const { left, right } = operands as { readonly left: Expr; readonly right: Expr };
  return [left, right];
}

function known(holds: boolean): Reach {
  return holds ? "yes" : "no";
}

function both(answers: readonly Reach[]): Reach {
  return answers.includes("no") ? "no" : answers.includes("maybe") ? "maybe" : "yes";
}

function opposite(answer: Reach): Reach {
  return answer === "yes" ? "no" : answer === "no" ? "yes" : "maybe";
}

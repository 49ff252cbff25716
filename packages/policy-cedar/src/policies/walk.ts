import type { EntityUidJson, Expr, PolicyJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";

/** One node of an expression: its operator and what it is applied to. */
export interface Node {
  readonly operator: string;
  readonly operands: unknown;
}

export function nodeOf(expression: Expr): Node {
  const [[operator, operands] = ["", undefined]] = Object.entries(expression) as [string, unknown][];
  return { operator, operands };
}

/** Calls `visit` for everything in a policy that has one operator: its expressions, outermost first. */
export function eachNode(policy: PolicyJson, visit: (node: Node) => void): void {
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) return value.forEach(walk);
    const entries = Object.entries(value);
    const [first] = entries;
    if (entries.length === 1 && first !== undefined) visit({ operator: first[0], operands: first[1] });
    for (const [, inner] of entries) walk(inner);
  };
  for (const { body } of policy.conditions) walk(body);
}

/** Every entity a policy names, in its head and in its conditions. */
export function entitiesIn(policy: PolicyJson): readonly TypeAndId[] {
  const found: TypeAndId[] = [];
  for (const side of [policy.principal, policy.action, policy.resource]) {
    if ("entity" in side) found.push(uidOf(side.entity));
    if ("entities" in side) found.push(...side.entities.map(uidOf));
    if ("in" in side && side.in !== undefined && "entity" in side.in) found.push(uidOf(side.in.entity));
  }
  eachNode(policy, ({ operator, operands }) => {
    if (operator === "__entity") found.push(operands as TypeAndId);
  });
  return found;
}

export function uidOf(json: EntityUidJson): TypeAndId {
  return "__entity" in json ? json.__entity : json;
}

/** The text of `left.attr` where `left` is `variable` or `variable.inner`: `["context", "args", "/amount"]`. */
export function pathOf(expression: unknown): readonly string[] | undefined {
  if (typeof expression !== "object" || expression === null) return undefined;
  if ("Var" in expression) return [String(expression.Var)];
  if (!("." in expression)) return undefined;
  const { left, attr } = expression["."] as { readonly left: unknown; readonly attr: string };
  const before = pathOf(left);
  return before === undefined ? undefined : [...before, attr];
}

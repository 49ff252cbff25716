import type { PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { eachNode, pathOf } from "./walk.ts";

/** What a policy looks at beyond who calls what. */
export interface Uses {
  /** JSON Pointers. */
  readonly args: readonly string[];
  readonly results: readonly string[];
  readonly claims: readonly string[];
  /** It lets what it forbids through once a person has approved it. */
  readonly approval: boolean;
  /** The call itself, beyond its lane: arguments, time, how many there were. */
  readonly call: boolean;
  /** What the agent did before, of the context of a run. */
  readonly agents: boolean;
}

export function usesOf(policy: PolicyJson): Uses {
  const args = new Set<string>();
  const results = new Set<string>();
  const claims = new Set<string>();
  let approval = false;
  let call = false;
  let agents = false;
  eachNode(policy, ({ operator, operands }) => {
    const path = operator === "." ? pathOf({ ".": operands }) : operator === "has" ? hasPath(operands) : undefined;
    if (path === undefined) {
      // The context as a whole, such as `context == other`: nothing is known of what of it matters.
      if (operator !== "Var" && namesContext(operands)) call = agents = true;
      return;
    }
    const [root, attr, key] = path;
    if (root === "context" && attr === "args" && key !== undefined) args.add(key);
    if (root === "context" && attr === "result" && key !== undefined) results.add(key);
    if (root === "principal" && attr === "claims" && key !== undefined) claims.add(key);
    if (root === "context" && attr === "newAgent") agents = true;
    if (root === "context" && attr === "approved") approval = true;
    else if (root === "context" && attr !== undefined && attr !== "lane") call = true;
  });
  return { args: [...args], results: [...results], claims: [...claims], approval, call, agents };
}

function hasPath(operands: unknown): readonly string[] | undefined {
  const { left, attr } = operands as { readonly left: unknown; readonly attr: string | readonly string[] };
  const before = pathOf(left);
  return before === undefined ? undefined : [...before, ...(typeof attr === "string" ? [attr] : attr)];
}

/** One of the operands is the whole context. */
function namesContext(operands: unknown): boolean {
  if (typeof operands !== "object" || operands === null) return false;
  return Object.values(operands).some((operand: unknown) => typeof operand === "object" && operand !== null && "Var" in operand && operand.Var === "context");
}

import { CallgateError } from "@callgate/contract";
import type { CallResult, Gate, JsonObject, Principal, ToolView } from "@callgate/contract";
import { globMatches, qualifiedGlob } from "@callgate/runtime/broker";
import { functionNames } from "../tools/function-name.ts";

/** Which tools of a gate another loop is given, and as whom it calls them. */
export interface InteropOptions {
  /** Default: the gate's. */
  readonly principal?: Principal;
  /** Patterns over qualified names. Default: all that the principal may call. */
  readonly tools?: readonly string[];
  /** Into whose context the answers go. */
  readonly conversation?: string;
  /** What the model may see of one result. Default: the gate's. */
  readonly budgetTokens?: number;
}

/** A tool of a gate under the name that providers take. */
export interface OfferedTool {
  /** `crm__get_customer`. */
  readonly name: string;
  readonly view: ToolView;
  /** Of an object, whatever the tool declares: providers take no other. */
  readonly input: JsonObject & { readonly type: "object" };
  readonly call: (input: unknown, signal: AbortSignal | undefined) => Promise<CallResult>;
}

/**
 * @param owner who offers them, for errors
 *
 * Errors: `CallgateError` USAGE for a pattern that is none.
 */
export function offeredTools(gate: Gate, { principal = gate.principal, tools, conversation, budgetTokens }: InteropOptions, owner: string): readonly OfferedTool[] {
  const globs = tools?.map((pattern) => {
    const glob = qualifiedGlob(pattern);
    if (typeof glob === "string") throw new CallgateError("USAGE", `${owner}: the pattern "${pattern}" ${glob}`);
    return glob;
  });
  const views = gate.tools({ principal }).filter(({ name }) => globs === undefined || globs.some((glob) => globMatches(glob, name)));
  const names = functionNames(views.map(({ name }) => name));
  return views.map((view) => ({
    name: names.get(view.name) ?? view.name,
    view,
    input: typeof view.spec.input === "boolean" ? { type: "object" } : { ...view.spec.input, type: "object" },
    call: async (input, signal) => await gate.call(view.name, input, { principal, ...(signal === undefined ? {} : { signal }), ...(conversation === undefined ? {} : { conversation }), ...(budgetTokens === undefined ? {} : { budgetTokens }) }),
  }));
}

/** For an import of a package that is the user's to install. */
export function missingPackage(owner: string, name: string): (cause: unknown) => never {
  return (cause) => {
    throw new CallgateError("USAGE", `${owner} needs ${name}; run: npm i ${name}`, { cause });
  };
}

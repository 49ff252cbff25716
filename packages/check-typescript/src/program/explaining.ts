import ts from "./typescript.cjs";
import type { Compiled } from "./compiler.ts";
import type { Environment } from "./environment.ts";
import type { ToolUses } from "./tool-uses.ts";

/** What a diagnostic is explained with. */
export interface Explaining {
  readonly compiled: Compiled;
  readonly environment: Environment;
  readonly uses: ToolUses;
}

/** The tool call in whose arguments a node stands. */
export function toolCallAround(node: ts.Node, uses: ToolUses): ReturnType<ToolUses["callOf"]> {
  for (let at: ts.Node | undefined = node; at !== undefined && !ts.isBlock(at); at = at.parent) {
    const call = uses.callOf(at);
    if (call !== undefined) return call;
  }
  return undefined;
}

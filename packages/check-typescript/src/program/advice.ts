import type { Compiled } from "./compiler.ts";
import type { Finding } from "./finding.ts";
import type { ToolUses } from "./tool-uses.ts";

export function findAdvice(_context: { readonly compiled: Compiled; readonly uses: ToolUses }): Finding[] {
  return [];
}

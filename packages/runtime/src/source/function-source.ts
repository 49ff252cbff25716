import { CallgateError, ToolError } from "@callgate/contract";
import type { Source, SourceListing, Tool, ToolContext } from "@callgate/contract";

export interface FunctionSourceOptions {
  readonly namespace: string;
  /** One line for the model on what these tools are about. */
  readonly purpose?: string;
  readonly tools: readonly Tool[];
}

/**
 * Tools made with `defineTool`, as a source. It is always ready and never changes.
 *
 * Errors: `CallgateError` TOOL_DUPLICATE when two tools have one name, TOOL_INVALID when one has none or
 * `tools` is no list.
 */
export function functionSource(options: FunctionSourceOptions): Source {
  const given: unknown = options.tools;
  if (!Array.isArray(given)) throw new CallgateError("TOOL_INVALID", `The tools of namespace "${options.namespace}" are not a list; write ${options.namespace}: [tool, ...]`);
  const byName = new Map<string, Tool>();
  for (const tool of options.tools) {
    if (tool.name === "") throw new CallgateError("TOOL_INVALID", `A tool of namespace "${options.namespace}" has no name; give it one`);
    if (byName.has(tool.name)) {
      throw new CallgateError("TOOL_DUPLICATE", `Two tools of namespace "${options.namespace}" are named "${tool.name}"; rename one`);
    }
    byName.set(tool.name, tool);
  }
  const listing: SourceListing = { tools: options.tools.map((tool) => ({ tool, claimed: false })), problems: [] };
  return {
    namespace: options.namespace,
    kind: "functions",
    ...(options.purpose === undefined ? {} : { purpose: options.purpose }),
    state: { kind: "ready" },
    list: () => Promise.resolve(listing),
    call: async (name: string, args: unknown, context: ToolContext) => {
      const tool = byName.get(name);
      if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `No tool "${name}" in "${options.namespace}"`, notApplied: true });
      return await tool.handler(args, context);
    },
    onChange: () => undefined,
    close: () => Promise.resolve(),
  };
}

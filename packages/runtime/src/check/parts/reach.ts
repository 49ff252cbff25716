import type { Effect, Reach } from "@callgate/contract";

/** What the text can reach: the tools it names and those it may choose, or everything. */
export interface Reachable {
  readonly tools: readonly { readonly name: string; readonly effect: Effect }[];
  readonly everything: boolean;
}

const order: readonly Effect[] = ["read", "write", "destructive"];

export function reachOf({ tools, everything }: Reachable): Reach {
  const effects = order.filter((effect) => tools.some((tool) => tool.effect === effect));
  return { tools: everything ? "*" : [...new Set(tools.map(({ name }) => name))].sort(), effects };
}

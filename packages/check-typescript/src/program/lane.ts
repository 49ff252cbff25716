import type { Lane } from "@callgate/contract";
import { error, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Compiled } from "./compiler.ts";
import type { ToolUses } from "./tool-uses.ts";

/** In the read lane a write that the program names is an error; one it may reach at run time is refused there. */
export function findLaneFaults({ compiled, uses }: { readonly compiled: Compiled; readonly uses: ToolUses }, lane: Lane): Finding[] {
  if (lane === "execute") return [];
  const faults = uses.named.filter(({ tool }) => tool.effect !== "read").map(({ node, tool }) => error("LANE_WRITE", node.getStart(compiled.file), `${tool.name} may change the world (effect ${tool.effect}); this entry point runs programs that only read. Leave the call out, or run the program where writes are allowed`));
  if (faults.length > 0 || uses.dynamic === undefined || !uses.reach.effects.some((effect) => effect !== "read")) return faults;
  return [warning("LANE_DYNAMIC", uses.dynamic.getStart(compiled.file), "Which tools are called here is only known at run time; calls of tools that are not reads will be refused then")];
}

import { createSlots } from "../lib/slots.ts";
import type { Slots } from "../lib/slots.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { cancelledBefore } from "./validate-input.ts";

/** Holds every tool to its declared `concurrency`, over all runs of a gate. */
export interface ToolSlots {
  /** Waits for the tool's turn. The tool's deadline does not run meanwhile. */
  take(call: ReadyCall): Promise<{ readonly kind: "taken"; readonly giveBack: () => void } | Ended>;
}

export function createToolSlots(): ToolSlots {
  const byTool = new Map<string, { readonly size: number; readonly slots: Slots }>();
  return {
    async take(call) {
      const size = call.tool.tool.concurrency;
      if (size === undefined) return { kind: "taken", giveBack: () => undefined };
      let known = byTool.get(call.tool.name);
      // A catalog that changed the bound starts a new count; calls of the old one end under theirs.
      if (known?.size !== size) byTool.set(call.tool.name, (known = { size, slots: createSlots(size) }));
      const giveBack = await known.slots.take(call.signal);
      return giveBack === undefined ? cancelledBefore(call.tool.name) : { kind: "taken", giveBack };
    },
  };
}

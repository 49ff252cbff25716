import { race } from "../lib/race.ts";
import { createSlots } from "../lib/slots.ts";
import type { Slots } from "../lib/slots.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { cancelledBefore } from "./validate-input.ts";

/** Holds every tool to its declared `concurrency`, over all runs of a gate. */
export interface ToolSlots {
  /**
   * Waits for the tool's turn. The tool's deadline does not run meanwhile. Where all turns are held by work that is past
   * its deadline and does not stop, the wait ends as well.
   */
  take(call: ReadyCall): Promise<ToolSlot | Ended> | ToolSlot;
}

/** One turn of a tool. It ends when the call has given it back and none of its work is at it any more. */
export interface ToolSlot {
  readonly kind: "taken";
  /** Keeps the turn while the work goes on, also when its call does not wait for it any longer. Returns the work. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
  giveBack(): void;
}

interface Turns {
  readonly size: number;
  readonly slots: Slots;
  /** Turns that were given back while their work goes on. */
  overdue: number;
}

const unbounded: ToolSlot = { kind: "taken", hold: (work) => work, giveBack: () => undefined };

export function createToolSlots(): ToolSlots {
  const byTool = new Map<string, Turns>();
  return {
    take(call) {
      const size = call.tool.tool.concurrency;
      if (size === undefined) return unbounded;
      let turns = byTool.get(call.tool.name);
      // A catalog that changed the bound starts a new count; calls of the old one end under theirs.
      if (turns?.size !== size) byTool.set(call.tool.name, (turns = { size, slots: createSlots(size), overdue: 0 }));
      return takeTurn(call, turns);
    },
  };
}

async function takeTurn(call: ReadyCall, turns: Turns): Promise<ToolSlot | Ended> {
  const { clock } = call.seams;
  const { name, tool } = call.tool;
  const waiting = new AbortController();
  const turn = turns.slots.take(AbortSignal.any([call.stop.signal, waiting.signal]));
  for (;;) {
    const taken = await race(() => turn, { clock, timeoutMs: tool.timeoutMs });
    if (taken.kind === "value") return taken.value === undefined ? cancelledBefore(name) : createSlot(turns, taken.value);
    if (turns.overdue < turns.size) continue;
    waiting.abort();
    // It may have been given in this very moment.
    (await turn)?.();
    return ended({
      outcome: "limit_exceeded",
      code: "LIMIT_EXCEEDED",
      tool: name,
      message: `${name} did not get its turn: ${turns.size === 1 ? "a call" : `${turns.size} calls`} before this one passed the deadline of ${tool.timeoutMs} ms and still work, and no more may run at once (concurrency). Whoever made the tool must let it stop at its signal. Nothing was changed.`,
      retryable: true,
      details: { limit: "concurrency", limitValue: turns.size },
    });
  }
}

function createSlot(turns: Turns, free: () => void): ToolSlot {
  let working = 0;
  let left = false;
  const workEnded = (): void => {
    working -= 1;
    if (!left || working > 0) return;
    turns.overdue -= 1;
    free();
  };
  return {
    kind: "taken",
    hold(work) {
      working += 1;
      work.then(workEnded, workEnded);
      return work;
    },
    giveBack() {
      left = true;
      if (working === 0) free();
      else turns.overdue += 1;
    },
  };
}

import type { CallLimits } from "../limits/call-limits.ts";
import { race } from "../lib/race.ts";
import { createSlots } from "../lib/slots.ts";
import type { Slots } from "../lib/slots.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { limitFacts } from "./limit.ts";
import { cancelledBefore } from "./validate-input.ts";

/** Holds every tool to its declared `concurrency`, and calls to the gate's concurrency limits, over all runs of a gate. */
export interface ToolSlots {
  /**
   * Waits for the call's turn. The tool's deadline does not run meanwhile. Where all turns are held by work that is past
   * its deadline and does not stop, the wait ends as well.
   */
  take(call: ReadyCall): Promise<ToolSlot | Ended> | ToolSlot;
}

/** One turn of a call. It ends when the call has given it back and none of its work is at it any more. */
export interface ToolSlot {
  readonly kind: "taken";
  /** Keeps the turn while the work goes on, also when its call does not wait for it any longer. Returns the work. */
  hold<Value>(work: Promise<Value>): Promise<Value>;
  giveBack(): void;
}

/** Of how many turns a call needs one. */
interface Bound {
  readonly key: string;
  readonly size: number;
  /** Of a limit of the gate. */
  readonly limitId?: string;
  readonly maxWaitMs?: number;
}

interface Turns {
  readonly size: number;
  readonly slots: Slots;
  /** Calls that hold a turn or wait for one. */
  users: number;
  /** Turns that were given back while their work goes on. */
  overdue: number;
}

interface Turn {
  readonly turns: Turns;
  readonly free: () => void;
}

const unbounded: ToolSlot = { kind: "taken", hold: (work) => work, giveBack: () => undefined };

export function createToolSlots(limits: CallLimits | undefined): ToolSlots {
  const byKey = new Map<string, Turns>();

  /** A bound that was changed starts a new count; calls of the old one end under theirs. */
  function turnsOf({ key, size }: Bound): Turns {
    let turns = byKey.get(key);
    if (turns?.size !== size) byKey.set(key, (turns = { size, slots: createSlots(size), users: 0, overdue: 0 }));
    return turns;
  }

  async function takeOne(call: ReadyCall, bound: Bound): Promise<Turn | Ended> {
    const turns = turnsOf(bound);
    const left = (): void => {
      turns.users -= 1;
      // Of callers there may be any number; what nobody uses is not kept.
      if (turns.users === 0 && byKey.get(bound.key) === turns) byKey.delete(bound.key);
    };
    turns.users += 1;
    const taken = await waitForTurn(call, bound, turns);
    if (typeof taken !== "function") {
      left();
      return taken;
    }
    return { turns, free: () => { taken(); left(); } };
  }

  async function takeAll(call: ReadyCall, bounds: readonly Bound[]): Promise<ToolSlot | Ended> {
    const taken: Turn[] = [];
    for (const bound of bounds) {
      const turn = await takeOne(call, bound);
      if ("kind" in turn) {
        for (const { free } of taken) free();
        return turn;
      }
      taken.push(turn);
    }
    return createSlot(taken);
  }

  return {
    take(call) {
      const size = call.tool.tool.concurrency;
      const own: readonly Bound[] = size === undefined ? [] : [{ key: `tool ${call.tool.name}`, size }];
      if (limits?.concurrency === undefined) return own.length === 0 ? unbounded : takeAll(call, own);
      const ofGate = limits.concurrency(limitFacts(call)).map(({ rule: { id, calls, maxWaitMs }, key }): Bound => ({ key: `limit ${id} ${key}`, size: calls, limitId: id, ...(maxWaitMs === undefined ? {} : { maxWaitMs }) }));
      // Everybody takes them in the same order, so that no two wait for each other.
      const bounds = [...own, ...ofGate].sort((one, other) => (one.key < other.key ? -1 : 1));
      return bounds.length === 0 ? unbounded : takeAll(call, bounds);
    },
  };
}

async function waitForTurn(call: ReadyCall, bound: Bound, turns: Turns): Promise<(() => void) | Ended> {
  const { clock } = call.seams;
  const { name, tool } = call.tool;
  const waiting = new AbortController();
  const turn = turns.slots.take(AbortSignal.any([call.stop.signal, waiting.signal]));
  const untilMs = clock.monotonic() + (bound.maxWaitMs ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const taken = await race(() => turn, { clock, timeoutMs: Math.min(tool.timeoutMs, untilMs - clock.monotonic()) });
    if (taken.kind === "value") return taken.value ?? cancelledBefore(name);
    const isOver = clock.monotonic() >= untilMs;
    if (!isOver && turns.overdue < turns.size) continue;
    waiting.abort();
    // It may have been given in this very moment.
    const given = await turn;
    if (given !== undefined && isOver) return given;
    given?.();
    return isOver ? noTurnInTime(call, bound) : noTurnLeft(call, turns);
  }
}

function noTurnLeft({ tool: { name, tool } }: ReadyCall, turns: Turns): Ended {
  return ended({
    outcome: "limit_exceeded",
    code: "LIMIT_EXCEEDED",
    tool: name,
    message: `${name} did not get its turn: ${turns.size === 1 ? "a call" : `${turns.size} calls`} before this one passed the deadline of ${tool.timeoutMs} ms and still work, and no more may run at once (concurrency). Whoever made the tool must let it stop at its signal. Nothing was changed.`,
    retryable: true,
    details: { limit: "concurrency", limitValue: turns.size },
  });
}

/** When a turn will be free nobody knows; who has just waited in vain need not ask sooner than so long. */
const leastRetryMs = 1_000;

function noTurnInTime({ tool: { name } }: ReadyCall, { size, limitId = "", maxWaitMs = 0 }: Bound): Ended {
  const retryAfterMs = Math.max(leastRetryMs, maxWaitMs);
  return ended({
    outcome: "limit_exceeded",
    code: "LIMIT_EXCEEDED",
    tool: name,
    message: `${name} did not get its turn within ${maxWaitMs} ms: no more than ${size} such ${size === 1 ? "call" : "calls"} may be under way at once (concurrency limit ${limitId}). Nothing was changed; call again in ${retryAfterMs} ms or later.`,
    retryable: true,
    details: { limit: "concurrency", bucket: limitId, limitValue: size, retryAfterMs },
  });
}

function createSlot(taken: readonly Turn[]): ToolSlot {
  let working = 0;
  let left = false;
  const workEnded = (): void => {
    working -= 1;
    if (!left || working > 0) return;
    for (const { turns, free } of taken) {
      turns.overdue -= 1;
      free();
    }
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
      for (const { turns, free } of taken) {
        if (working === 0) free();
        else turns.overdue += 1;
      }
    },
  };
}

import type { ParseResult } from "@callgate/contract";
import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import type { Stop } from "../lib/stop.ts";
import { judge } from "./judge.ts";

const ok: ParseResult = { kind: "ok", value: 1 };
const aborted = { aborted: true } as Stop;

describe("a value held against a schema", () => {
  test("of ours is judged at once, without a timer; what it throws is a value", async () => {
    const clock = virtualClock();
    const options = { clock, timeoutMs: 10, byAuthor: false };
    expect(judge(() => ok, options)).toEqual({ kind: "value", value: ok });
    const fault = new Error("no schema");
    expect(judge(() => { throw fault; }, options)).toEqual({ kind: "threw", error: fault });
    expect(clock.pendingTimers).toBe(0);
    expect(await judge(() => Promise.resolve(ok), options)).toEqual({ kind: "value", value: ok });
  });

  test("is not begun once the run is to end", () => {
    let begun = 0;
    expect(judge(() => { begun += 1; return ok; }, { clock: virtualClock(), timeoutMs: 10, byAuthor: false, stop: aborted })).toEqual({ kind: "cancelled" });
    expect(begun).toBe(0);
  });

  test("of an author has the time of its tool", async () => {
    const clock = virtualClock();
    const judged = judge(() => new Promise<ParseResult>(() => undefined), { clock, timeoutMs: 10, byAuthor: true });
    await clock.advance(10);
    expect(await judged).toMatchObject({ kind: "timed_out" });
  });
});

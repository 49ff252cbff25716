import { defaultLimits } from "@callgate/contract";
import type { GuestOutput } from "@callgate/contract";
import { programText } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { loadEngine } from "../host/engine-file.ts";
import { createEngines } from "./engine.ts";
import { createGuest } from "./guest.ts";

const engines = createEngines(loadEngine());
engines.defineModules("m", '[{"namespace":"demo","tools":["give"]}]');

/** What a program printed as an error, and how it ended. Its calls are answered with a failure, its timers at once. */
function run(body: string): { readonly told: readonly string[]; readonly end: string | undefined } {
  const engine = engines.prepare("m", 64);
  const guest = createGuest(engine, { code: programText(body), seed: "0".repeat(32), startMs: 0, limits: { ...defaultLimits, memoryMiB: 64, cpuMs: 20_000 }, cancelled: () => false, part: () => undefined });
  const outputs: GuestOutput[] = [];
  let stretch = guest.start();
  for (;;) {
    outputs.push(...stretch.outputs);
    if (stretch.end !== undefined || stretch.calls.length === 0) break;
    stretch = guest.deliver(
      stretch.calls.map(({ seq, kind }) => ({ seq, atMs: 1, result: kind === "timer" ? { kind: "value", value: { json: "null", tagged: false } } : { kind: "error", error: { name: "ToolError", code: "NOPE", message: "it refused", tool: "demo.give" } } })),
    );
  }
  engines.release(engine, guest.isHealthy);
  return { told: outputs.flatMap((output) => (output.kind === "console" && output.entry.level === "error" ? [output.entry.text] : [])), end: stretch.end?.kind };
}

const unhandled = "Unhandled rejection, which nothing awaited or caught: ";

describe("code-mode 9, P14: a rejection that nothing waits for", () => {
  test.each([
    ["an async function that is not awaited", 'const save = async () => { throw new TypeError("lost") }; save(); return 1', "TypeError: lost"],
    ["an async callback of a timer", 'setTimeout(async () => { throw new Error("late") }, 5); await new Promise((done) => setTimeout(done, 10)); return 1', "Error: late"],
    ["a call of a tool that failed", "void tools.demo.give({}); await new Promise((done) => setTimeout(done, 1)); return 1", "ToolError: it refused"],
    ["a value that is no error", 'Promise.reject({ reason: "odd" }); return 1', '{ reason: "odd" }'],
    ["what a handler threw", 'Promise.resolve().then(() => { throw new Error("inside") }); await null; await null; return 1', "Error: inside"],
  ])("%s is told", (_name, body, text) => {
    const { told, end } = run(body);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(unhandled);
    expect(told[0]).toContain(text);
    expect(end).toBe("returned");
  });

  test.each([
    ["caught at once", "Promise.reject(new Error()).catch(() => {}); return 1", "returned"],
    ["awaited later", "const p = (async () => { throw new Error() })(); await null; await null; try { await p } catch {} return 1", "returned"],
    ["one of many, all awaited", "const fail = async (n) => { throw new Error(n) }; await Promise.allSettled([1, 2, 3].map(fail)); try { await Promise.all([4, 5].map(fail)) } catch {} return 1", "returned"],
    ["the end of the program itself", 'throw new Error("own")', "threw"],
  ])("%s is not", (_name, body, end) => {
    expect(run(body)).toEqual({ told: [], end });
  });

  test("says why a program stalls", () => {
    const { told, end } = run('await new Promise((done) => { (async () => { throw new Error("before done"); done() })() })');
    expect([told.length, told[0]?.includes("Error: before done"), end]).toEqual([1, true, "stalled"]);
  });

  test("many are bounded, on both sides, and the rest is counted", () => {
    const { told, end } = run("for (let i = 0; i < 20_000; i++) Promise.reject(new Error(`n${i}`)); return 1");
    expect([told.length, end]).toEqual([5, "returned"]);
    expect(told[0]).toContain("Error: n0");
    expect(told[4]).toContain(", and 19995 more");
  });

  test("one that left its address to another is still told", () => {
    const { told } = run('(() => { Promise.reject(new Error("first")) })(); for (let i = 0; i < 50; i++) Promise.reject(i).catch(() => {}); return 1');
    expect([told.length, told[0]?.includes("Error: first")]).toEqual([1, true]);
  });

  test("what hostile values do while they are told ends nothing", () => {
    const { told, end } = run('Promise.reject(new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })); const e = new Error("x"); Object.defineProperty(e, "message", { get() { while (false); throw 3 } }); Promise.reject(e); return 1');
    expect([told.length, end]).toEqual([2, "returned"]);
  });

  test("nothing of it is there in the next run", () => {
    run('Promise.reject(new Error("of the run before")); return 1');
    expect(run("return 1")).toEqual({ told: [], end: "returned" });
  });
});

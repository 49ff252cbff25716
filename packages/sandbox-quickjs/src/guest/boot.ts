import { encodeValueOnce, ValueError } from "@callgate/contract";
import type { GuestModule } from "@callgate/contract";
import { emitted } from "../guest-protocol.ts";
import type { Delivery, Emit } from "./calls.ts";
import { createCalls } from "./calls.ts";
import { installConsole } from "./console.ts";
import { describeError } from "./describe-error.ts";
import { SafeTypeError, create, defineGlobal, defineProperty, freeze, isFinite, parse, stringify } from "./intrinsics.ts";
import { installLazy } from "./lazy.ts";
import type { Random32 } from "./random.ts";
import { createRandom, installRandom } from "./random.ts";
import { render, renderAll } from "./render.ts";
import { installTimers } from "./timers.ts";
import { ToolError } from "./tool-error.ts";
import { createResults, createSleep, createTools, createWaitFor } from "./tools.ts";

/** Called by the worker, in the order of `entries`. */
export type GuestEntries = readonly [
  /** Lays out `tools`; part of what is kept in the snapshot. */
  defineModules: (modulesJson: string) => void,
  /** Calls the program. What it returns is the promise of the run's value. */
  start: (...program: [main: unknown, seed: string, argumentBytes: number, resultBytes: number, tellsPlaces: number]) => unknown,
  deliver: (...answer: Delivery) => void,
  settleValue: (value: unknown) => void,
  settleError: (thrown: unknown) => void,
  /** `more` others are not told one by one. */
  tellRejection: (reason: unknown, more: number) => void,
];

/**
 * Builds the guest's world out of one host function. Runs once, before the snapshot is taken; nothing in it knows a
 * run. What programs can reach of it: `tools`, `results`, `console`, `text`, `progress`, `sleep`, `waitFor`, timers, `crypto`, `ToolError`.
 */
export function boot(emit: Emit): GuestEntries {
  const calls = createCalls(emit);
  const fail = (thrown: unknown): void => {
    emit(emitted.error, describeError(thrown));
  };
  let randomness: { math: Random32; crypto: Random32 } = { math: () => 0, crypto: () => 0 };
  let maxResultChars = 0;
  const callgate = create(null) as { tools: object };

  installRandom(() => randomness);
  installConsole(emit);
  installTimers(calls, fail);
  installLazy(emit);
  defineGlobal("ToolError", ToolError);
  defineGlobal("results", createResults(calls));
  defineGlobal("sleep", createSleep(calls));
  defineGlobal("waitFor", createWaitFor(calls));
  defineGlobal("text", function text(value: unknown) {
    emit(emitted.text, stringify(render(value)));
  });
  defineGlobal("progress", function progress(message: unknown, fraction?: unknown) {
    const known = typeof fraction === "number" && isFinite(fraction) && fraction >= 0 && fraction <= 1;
    emit(emitted.progress, stringify(render(message)), known ? fraction : 0 / 0);
  });
  delete (globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer;

  return [
    (modulesJson) => {
      const tools = createTools(calls, parse(modulesJson) as readonly GuestModule[]);
      defineProperty(globalThis, "tools", { value: tools, writable: false, configurable: false, enumerable: false });
      callgate.tools = tools;
      freeze(callgate);
    },
    (...program) => {
      const main = program[0];
      const seed = program[1];
      randomness = { math: createRandom(seed, 0), crypto: createRandom(seed, 0x5bd1e995) };
      calls.limits.argumentBytes = program[2];
      maxResultChars = program[3];
      calls.places.told = program[4] === 1;
      if (typeof main !== "function") throw new SafeTypeError("The program is not a function");
      return (main as (callgate: object) => unknown)(callgate);
    },
    calls.deliver,
    (value) => {
      try {
        const wire = encodeValueOnce(value, { maxDepth: 200, maxNodes: 20_000_000, maxChars: maxResultChars });
        emit(emitted.result, wire.tagged ? 1 : 0, wire.json);
      } catch (thrown) {
        if (thrown instanceof ValueError && thrown.bound === "maxChars") emit(emitted.resultTooLarge);
        else fail(thrown);
      }
    },
    fail,
    (reason, more) => {
      const others = more > 0 ? `, and ${more} more` : "";
      emit(emitted.console, "error", stringify(`Unhandled rejection, which nothing awaited or caught: ${renderAll([reason])}${others}`));
    },
  ];
}

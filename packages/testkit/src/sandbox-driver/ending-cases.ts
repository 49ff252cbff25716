import { deepStrictEqual, ok } from "node:assert/strict";
import type { GuestEnd, LimitName } from "@callgate/contract";
import { processesNamed } from "../processes-named.ts";
import type { DriverCase, DriverWorld } from "./driver-case.ts";
import { lineOf, printed, startNamed, valueOfNamed } from "./guest-harness.ts";
import type { HarnessOptions } from "./guest-harness.ts";
import { leftSeconds, programIn } from "./programs.ts";
import type { ProgramName } from "./programs.ts";

const endOf = (world: DriverWorld, name: ProgramName, options: HarnessOptions = {}): Promise<GuestEnd> => startNamed(world, name, options).ended;

/** The driver works: whatever went before. */
async function isAlive(world: DriverWorld): Promise<void> {
  const run = startNamed(world, "alive");
  await run.ended;
  deepStrictEqual(printed(run), "alive");
}

interface Bomb {
  readonly program: ProgramName;
  readonly what: string;
  readonly limits: readonly LimitName[];
  /** It may also end by the language's own error, or by a signal where a limit of the kernel says so. */
  readonly otherwise?: readonly GuestEnd["kind"][];
}

const bombs: readonly Bomb[] = [
  { program: "spin", what: "an endless loop", limits: ["cpuMs"] },
  { program: "spinCatching", what: "an endless loop that catches everything", limits: ["cpuMs"] },
  { program: "fillMemory", what: "a program that takes all memory", limits: ["memoryMiB", "cpuMs"] },
  { program: "fillHeap", what: "a program that takes all memory in small pieces", limits: ["memoryMiB", "cpuMs"], otherwise: ["threw"] },
  { program: "recurse", what: "a deep recursion", limits: ["stackKiB", "memoryMiB", "cpuMs"], otherwise: ["threw", "crashed"] },
];

/** How programs end, in every language. */
export const endingCases: readonly DriverCase[] = [
  ...bombs.map(
    ({ program, what, limits, otherwise = [] }): DriverCase => ({
      name: `${what} ends at a named limit, and the next program runs`,
      programs: [program],
      timeoutMs: 60_000,
      async run(world) {
        const end = await endOf(world, program, { limits: { cpuMs: 1_000, memoryMiB: 64 } });
        ok(end.kind === "limit" ? limits.includes(end.limit) && end.limitValue > 0 && end.message.length > 20 : otherwise.includes(end.kind), JSON.stringify(end));
        await isAlive(world);
      },
    }),
  ),
  {
    name: "CPU time does not count waiting",
    programs: ["waitShortly"],
    run: async (world) => deepStrictEqual((await endOf(world, "waitShortly", { limits: { cpuMs: 500 } })).kind, "returned"),
  },
  {
    name: "what was printed before a limit is still told",
    programs: ["printThenSpin"],
    timeoutMs: 30_000,
    async run(world) {
      const run = startNamed(world, "printThenSpin", { limits: { cpuMs: 300 } });
      deepStrictEqual((await run.ended).kind, "limit");
      deepStrictEqual(printed(run, "log"), "before");
    },
  },
  {
    name: "a value over resultBytes ends the run at that limit; one that holds itself is an error",
    programs: ["largeValue", "cyclicValue"],
    async run(world) {
      const end = await endOf(world, "largeValue", { limits: { resultBytes: 1000 } });
      ok(end.kind === "limit" && end.limit === "resultBytes" && end.limitValue === 1000, JSON.stringify(end));
      const cyclic = await endOf(world, "cyclicValue");
      ok(cyclic.kind === "threw" && cyclic.error.code === "VALUE_UNSUPPORTED", JSON.stringify(cyclic));
    },
  },
  {
    name: "an empty program is one without a value",
    programs: ["nothing"],
    run: async (world) => deepStrictEqual((await endOf(world, "nothing")).kind, "returned"),
  },
  {
    name: "an error crosses with name, message and its place in the executed text; a text that is no program is a SyntaxError",
    programs: ["throws", "syntaxError"],
    async run(world) {
      const end = await endOf(world, "throws");
      ok(end.kind === "threw" && /TypeError|AttributeError/.test(end.error.name) && end.error.line === lineOf(world, 2), JSON.stringify(end));
      const syntax = await endOf(world, "syntaxError");
      ok(syntax.kind === "threw" && syntax.error.name === "SyntaxError", JSON.stringify(syntax));
    },
  },
  {
    name: "case 62: an exit code is told as such, and 0 is no error",
    programs: ["exitThree", "exitZero"],
    async run(world) {
      const end = await endOf(world, "exitThree");
      ok(end.kind === "threw" && end.error.code === "EXIT_CODE" && end.error.details?.json === '{"exitCode":3}', JSON.stringify(end));
      deepStrictEqual((await endOf(world, "exitZero")).kind, "returned");
    },
  },
  {
    name: "case 62: a signal ends the run as crashed and is named; what was printed is kept",
    programs: ["abort"],
    async run(world) {
      const run = startNamed(world, "abort");
      const end = await run.ended;
      // A shell that is itself the program's process tells of a signal as an exit code.
      ok((end.kind === "crashed" && end.signal?.startsWith("SIG") === true) || (end.kind === "threw" && /SIG/.test(JSON.stringify(end.error))), JSON.stringify(end));
      ok(printed(run, "log").startsWith("before"));
      await isAlive(world);
    },
  },
  {
    name: "a program that waits for what cannot come is stalled",
    programs: ["stalls"],
    run: async (world) => deepStrictEqual(await endOf(world, "stalls"), { kind: "stalled" }),
  },
  ...(["waitLong", "ignoreTerm", "callAndWait", "spin"] as const).map(
    (program): DriverCase => ({
      name: `cases 51, 52, 54: cancel ends ${program} within 500 ms, keeps what was printed, and may be repeated`,
      programs: [program],
      timeoutMs: 30_000,
      async run(world) {
        const run = startNamed(world, program, { byHand: program === "callAndWait", limits: { cpuMs: 1e9 } });
        await (program === "spin" ? new Promise((resolve) => setTimeout(resolve, 300)) : saysSomething(run));
        const startMs = performance.now();
        run.run.cancel();
        run.run.cancel();
        deepStrictEqual((await run.ended).kind, "cancelled");
        const tookMs = performance.now() - startMs;
        // What is promised is 500 ms; a machine under load gets more, and the program would go on for a minute.
        ok(tookMs < 3_000, `it took ${tookMs} ms`);
        ok(program === "spin" || printed(run, "log") !== "");
      },
    }),
  ),
  {
    name: "case 53: what a program leaves behind is dead when it has ended",
    programs: ["leaveChild"],
    async run(world) {
      const run = startNamed(world, "leaveChild");
      deepStrictEqual((await run.ended).kind, "returned");
      deepStrictEqual(printed(run), "left");
      deepStrictEqual(processesNamed(`sleep\u0000${leftSeconds}`), []);
    },
  },
  {
    name: "case 54: a run that is cancelled at once ends as cancelled",
    programs: ["waitLong"],
    async run(world) {
      const run = startNamed(world, "waitLong");
      run.run.cancel();
      deepStrictEqual((await run.ended).kind, "cancelled");
    },
  },
  {
    name: "nothing of a run is there in the next one, nor in one that runs at the same time",
    programs: ["leaveMarks", "seeMarks"],
    timeoutMs: 60_000,
    async run(world) {
      await endOf(world, "leaveMarks");
      const runs = [startNamed(world, "seeMarks"), startNamed(world, "leaveMarks"), startNamed(world, "seeMarks")];
      for (const run of runs) await run.ended;
      const after = startNamed(world, "seeMarks");
      await after.ended;
      deepStrictEqual([runs[0], runs[2], after].map((run) => run && printed(run, "log")), ["clean", "clean", "clean"]);
    },
  },
  {
    name: "case 60: many at once, the same text too; what does not fit waits",
    programs: ["alive"],
    timeoutMs: 120_000,
    async run(world) {
      const runs = Array.from({ length: 40 }, () => startNamed(world, "alive"));
      for (const run of runs) deepStrictEqual((await run.ended).kind, "returned");
      ok(runs.every((run) => printed(run) === "alive"));
      if (programIn(world.dialect, "callOnce") === undefined) return;
      deepStrictEqual(await Promise.all(Array.from({ length: 20 }, () => valueOfNamed(world, "callOnce"))), Array.from({ length: 20 }, () => 7));
    },
  },
];

/** Resolves when a run printed something or issued a call. */
async function saysSomething({ outputs, calls, ended }: ReturnType<typeof startNamed>): Promise<void> {
  let isOver = false;
  ended.finally(() => (isOver = true)).catch(() => undefined);
  while (outputs.length === 0 && calls.length === 0 && !isOver) await new Promise((resolve) => setTimeout(resolve, 10));
}

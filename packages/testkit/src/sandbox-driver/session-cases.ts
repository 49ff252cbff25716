import { deepStrictEqual, ok, throws } from "node:assert/strict";
import type { SessionOptions } from "@callgate/contract";
import { CallgateError, decodeValue } from "@callgate/contract";
import type { DriverCase, DriverWorld, SessionWorld } from "./driver-case.ts";
import { printed, startBlock } from "./guest-harness.ts";
import type { HarnessRun } from "./guest-harness.ts";
import { languageOfDialect, programIn } from "./programs.ts";
import type { ProgramName } from "./programs.ts";

interface SessionCase {
  readonly name: string;
  readonly programs: readonly ProgramName[];
  readonly options?: Partial<SessionOptions>;
  readonly run: (world: SessionWorld) => Promise<void>;
}

/** Opens a session for a case and closes it after it. */
function withSession({ name, programs, options, run }: SessionCase): DriverCase {
  return {
    name,
    programs,
    needs: "sessions",
    timeoutMs: 60_000,
    async run(world: DriverWorld) {
      const session = world.driver.openSession?.({ sessionId: "session-1", language: languageOfDialect[world.dialect], memoryMiB: 256, idleMs: 600_000, totalMs: 600_000, ...options });
      ok(session !== undefined, "the driver says it has sessions and opens none");
      try {
        await run({ ...world, session });
      } finally {
        await session.close();
      }
    },
  };
}

async function says({ outputs, ended }: HarnessRun): Promise<void> {
  let isOver = false;
  ended.finally(() => (isOver = true)).catch(() => undefined);
  while (outputs.length === 0 && !isOver) await new Promise((resolve) => setTimeout(resolve, 10));
}

const recalled = async (world: SessionWorld): Promise<string> => {
  const run = startBlock(world, "recall");
  await run.ended;
  return printed(run, "log");
};

/** State from block to block, in every language that keeps it. */
export const sessionCases: readonly DriverCase[] = [
  withSession({
    name: "session: variables, functions, working folder and files are there in the next block",
    programs: ["define", "recall"],
    async run(world) {
      const run = startBlock(world, "define");
      deepStrictEqual([(await run.ended).kind, await run.block.stateKept], ["returned", true]);
      deepStrictEqual(await recalled(world), "x is 41\nkept");
      const { phase, generation, blocks, queued } = world.session.status();
      deepStrictEqual({ generation, blocks, queued, isEnded: phase === "ended" }, { generation: 1, blocks: 2, queued: 0, isEnded: false });
    },
  }),
  withSession({
    name: "session: a name can be declared again, a block may await, its last expression is its value, and it calls tools",
    programs: ["redefine", "callInBlock"],
    async run(world) {
      for (let round = 0; round < 2; round++) {
        const end = await startBlock(world, "redefine").ended;
        ok(end.kind === "returned", JSON.stringify(end));
        deepStrictEqual(decodeValue(end.value), 42);
      }
      const calls = [];
      for (let round = 0; round < 3; round++) {
        const run = startBlock(world, "callInBlock");
        const end = await run.ended;
        ok(end.kind === "returned" && end.value.json === "7", JSON.stringify(end));
        calls.push(run.calls.map(({ seq }) => seq));
      }
      deepStrictEqual(calls, [[0], [0], [0]], "each block counts its calls from 0");
    },
  }),
  withSession({
    name: "session: one block at a time, in order; one that waits can be taken out of the queue",
    programs: ["waitShortly", "define", "recall"],
    async run(world) {
      const first = startBlock(world, "define");
      const dropped = startBlock(world, "leave");
      const last = startBlock(world, "recall");
      ok(world.session.status().queued >= 1 && world.session.status().phase === "busy");
      dropped.run.cancel();
      deepStrictEqual([(await dropped.ended).kind, dropped.outputs.length], ["cancelled", 0]);
      await first.ended;
      await last.ended;
      deepStrictEqual(printed(last, "log"), "x is 41\nkept");
    },
  }),
  ...(["dawdle", "compute"] as const).map((program) =>
    withSession({
      name: `session: an interrupt ends a block that ${program === "dawdle" ? "waits" : "computes"}, keeps what it printed, and keeps the state`,
      programs: ["define", program, "recall"],
      async run(world) {
        await startBlock(world, "define").ended;
        const run = startBlock(world, program, { limits: { cpuMs: 1e9 } });
        await says(run);
        run.block.interrupt();
        deepStrictEqual([(await run.ended).kind, await run.block.stateKept, printed(run, "log")], ["threw", true, "partial"]);
        deepStrictEqual(await recalled(world), "x is 41\nkept");
      },
    }),
  ),
  withSession({
    name: "session: an interrupt at once counts, whether the block has begun, is about to, or waits in the queue, and is not the next one's",
    programs: ["define", "dawdle", "recall"],
    async run(world) {
      await startBlock(world, "define").ended;
      for (let delayMs = 0; delayMs < 5; delayMs++) {
        const run = startBlock(world, "dawdle");
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        // The session takes it up in this turn of the event loop, at the latest.
        await Promise.resolve().then(() => run.block.interrupt());
        deepStrictEqual([(await run.ended).kind, await run.block.stateKept], ["threw", true]);
        deepStrictEqual(await recalled(world), "x is 41\nkept");
      }
      const [first, queued] = [startBlock(world, "recall"), startBlock(world, "dawdle")];
      queued.block.interrupt();
      deepStrictEqual([(await first.ended).kind, (await queued.ended).kind, await queued.block.stateKept], ["returned", "threw", true]);
      deepStrictEqual(await recalled(world), "x is 41\nkept");
    },
  }),
  withSession({
    name: "session: a block over its CPU time is interrupted, and the state is kept where it lets itself be",
    programs: ["define", "compute", "recall"],
    async run(world) {
      await startBlock(world, "define").ended;
      const run = startBlock(world, "compute", { limits: { cpuMs: 500 } });
      const end = await run.ended;
      ok(end.kind === "limit" && end.limit === "cpuMs", JSON.stringify(end));
      if (await run.block.stateKept) deepStrictEqual(await recalled(world), "x is 41\nkept");
      else deepStrictEqual(world.session.status().generation, 2);
    },
  }),
  withSession({
    name: "session: a block that does not stop is ended with the session's state, which is said; what waits is not run; the next block is a fresh start",
    programs: ["define", "insist", "seeMarks"],
    async run(world) {
      await startBlock(world, "define").ended;
      const run = startBlock(world, "insist", { limits: { cpuMs: 1e9 } });
      await says(run);
      const waiting = startBlock(world, "recall");
      run.run.cancel();
      deepStrictEqual([(await run.ended).kind, await run.block.stateKept], ["cancelled", false]);
      deepStrictEqual([(await waiting.ended).kind, await waiting.block.stateKept, waiting.outputs.length], ["cancelled", false, 0]);
      const { generation, loss } = world.session.status();
      deepStrictEqual([generation, loss?.reason], [2, "cancelled"]);
      ok(loss?.message.includes("gone"));
      const fresh = startBlock(world, "recall");
      await fresh.ended;
      ok(!printed(fresh, "log").includes("41"), "nothing of the lost state is there");
    },
  }),
  withSession({
    name: "session: a block that ends the interpreter loses the state and says so",
    programs: ["leave", "define"],
    async run(world) {
      const run = startBlock(world, "leave");
      await run.ended;
      deepStrictEqual(await run.block.stateKept, false);
      deepStrictEqual(world.session.status().generation, 2);
      deepStrictEqual((await startBlock(world, "define").ended).kind, "returned");
    },
  }),
  withSession({
    name: "session: restart begins anew, close ends it, and nothing runs after that",
    programs: ["define", "recall"],
    async run(world) {
      await startBlock(world, "define").ended;
      await world.session.restart();
      deepStrictEqual([world.session.status().generation, world.session.status().loss?.reason], [2, "restarted"]);
      ok(!(await recalled(world)).includes("41"));
      await world.session.close();
      await world.session.close();
      deepStrictEqual([world.session.status().phase, world.session.status().loss?.reason], ["ended", "closed"]);
      throws(() => startBlock(world, "recall"), (error) => CallgateError.is(error) && error.code === "SESSION_ENDED");
    },
  }),
  withSession({
    name: "session: it ends when no block ran for too long",
    programs: ["define"],
    options: { idleMs: 200 },
    async run(world) {
      await startBlock(world, "define").ended;
      while (world.session.status().phase !== "ended") await new Promise((resolve) => setTimeout(resolve, 20));
      deepStrictEqual(world.session.status().loss?.reason, "idle");
    },
  }),
  withSession({
    name: "session: a block brings back the files it wrote, not those of earlier ones",
    programs: ["writeFirst", "alive"],
    async run(world) {
      if (programIn(world.dialect, "callOnce") === undefined) return; // A shell looks at whole seconds.
      const names = async (program: ProgramName): Promise<readonly string[]> => {
        const run = startBlock(world, program);
        await run.ended;
        return run.outputs.flatMap((output) => (output.kind === "artifact" ? [output.artifact.name] : []));
      };
      deepStrictEqual([await names("writeFirst"), await names("alive"), await names("writeFirst")], [["a.txt"], [], ["a.txt"]]);
    },
  }),
];

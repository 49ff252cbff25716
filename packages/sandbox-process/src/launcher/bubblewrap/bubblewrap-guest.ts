import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { GuestExit, LaunchedGuest, LaunchSpec } from "../launcher.ts";
import type { Keeper } from "../keeper.ts";
import { readProcessStat } from "../process-stat.ts";
import { processTree, useOf } from "../process-tree.ts";
import { exitOf, streamsOf } from "../started-process.ts";
import type { ControlGroup } from "./control-group.ts";
import { descriptors } from "./sandbox-arguments.ts";
import { setupFailure } from "./setup-failure.ts";
import type { UnnamedFile } from "./unnamed-file.ts";

export interface GuestParts {
  readonly group: ControlGroup | undefined;
  readonly spec: LaunchSpec;
  readonly keeper: Keeper;
  /** Where bubblewrap says what the first process inside is. */
  readonly info: UnnamedFile;
}

const killAgainMs = 20;
/** How often a dying process is looked for: at every turn at first, since most are gone within a millisecond. */
const turnsToLook = 50;
const lookMs = 2;
/** Nobody waits longer for a process that was ended, nor for what it said. */
const lateMs = 1_000;
/** The most that is kept of what is said while the walls are built. */
const maxSaidChars = 4_096;

/** A guest under its keeper, from its start to its end. */
export function watchGuest(child: ChildProcess, { group, spec, keeper, info }: GuestParts): LaunchedGuest {
  const { promise: exited, resolve } = Promise.withResolvers<GuestExit>();
  const { stderr: setUp, ...streams } = streamsOf(child);
  const stderr = (child.stdio as readonly unknown[])[descriptors.stderr] as Readable;
  stderr.on("error", () => undefined);
  const heard = heardOf(setUp);
  const first = firstInside(info);
  const ended = once(child, "exit");
  let isEnded = false;
  let isKilled = false;
  let isEnding = false;
  let again: NodeJS.Timeout | undefined;

  const end = async (code: number | null, signal: NodeJS.Signals | null): Promise<void> => {
    isEnded = true;
    clearTimeout(again);
    // Who could say something is dead or dying, so this is soon; the guest never had these streams.
    const late = pause(lateMs, undefined, { ref: false });
    // Bubblewrap ends when its command has; the first process inside may still be taking the others with it.
    const inner = first();
    info.close();
    if (inner !== undefined) await untilDead(inner);
    const said = (await Promise.race([heard, late])) ?? "";
    const outOfMemory = group?.ranOutOfMemory() ?? false;
    removeSoon(group);
    const failed = said !== "" && code !== 0 && code !== null && !isKilled;
    const exit = isKilled && code !== 0 ? exitOf(null) : exitOf(code, signal);
    resolve({ ...exit, outOfMemory, ...(failed ? { failure: setupFailure(said, spec), diagnosis: said.trim() } : {}) });
  };
  /** Once the first process inside is dead, so is all of its namespace: what only tells of it is not waited for. */
  const endSoon = async (inner: number): Promise<void> => {
    await untilDead(inner);
    const open = [streams.stdout, stderr, streams.frames];
    if (isEnded || isRunning(inner) || !(await heardOut(open))) return;
    resolve({ ...exitOf(null), outOfMemory: group?.ranOutOfMemory() ?? false });
    for (const stream of open) stream.destroy();
  };
  ended.then(([code, signal]) => end(code as number | null, signal as NodeJS.Signals | null)).catch(() => undefined);

  const guest: LaunchedGuest = {
    ...streams,
    stderr,
    exited,
    use: () => group?.use() ?? useOf(isEnded || child.pid === undefined ? [] : processTree(child.pid)),
    interrupt() {
      // The first process inside is not the guest's; everything after it is.
      const inner = isEnded ? undefined : first();
      if (inner !== undefined) for (const pid of processTree(inner).slice(1)) signalOne(pid, "SIGINT");
    },
    kill() {
      // The first process inside takes its pid namespace with it, and its death ends bubblewrap, which waits for that.
      // Before there is one, bubblewrap may just be making it: its keeper knows how to end it then.
      clearTimeout(again);
      if (isEnded) return;
      isKilled = true;
      again = setTimeout(() => guest.kill(), killAgainMs);
      const inner = first();
      if (inner === undefined) return keeper.leave();
      if (isRunning(inner)) signalOne(inner, "SIGKILL");
      if (!isEnding) endSoon(inner).catch(() => undefined);
      isEnding = true;
    },
  };
  return guest;
}

/** Asks for the first process inside, as this host numbers it. Undefined before there is one. */
function firstInside(info: UnnamedFile): () => number | undefined {
  let known: number | undefined;
  return () => {
    const said = known === undefined ? /"child-pid"\s*:\s*(\d+)/.exec(info.text())?.[1] : undefined;
    if (said !== undefined) known = Number(said);
    return known;
  };
}

/** What comes of a stream until it closes. Never rejects. */
function heardOf(stream: Readable): Promise<string> {
  let said = "";
  stream.on("error", () => undefined);
  stream.on("data", (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(0, maxSaidChars)));
  return new Promise((resolve) => stream.once("close", () => resolve(said)));
}

/**
 * Resolves when all was heard that the dead have left in these streams: a turn of the event loop reads whatever there is, so
 * after two that brought nothing there is nothing. False where somebody holds a stream back.
 */
async function heardOut(streams: readonly Readable[]): Promise<boolean> {
  let quietTurns = 0;
  const heard = (): void => void (quietTurns = 0);
  for (const stream of streams) stream.on("data", heard);
  while (quietTurns < 2) {
    quietTurns += 1;
    await nextTurn();
    if (streams.some((stream) => stream.isPaused())) return false;
  }
  return true;
}

function isRunning(pid: number): boolean {
  return readProcessStat(pid)?.isDead === false;
}

async function untilDead(pid: number): Promise<void> {
  const untilMs = performance.now() + lateMs;
  for (let turn = 0; isRunning(pid) && performance.now() < untilMs; turn++) await (turn < turnsToLook ? nextTurn() : pause(lookMs));
}

/** The kernel may take a moment to let go of a group whose processes are dead. */
function removeSoon(group: ControlGroup | undefined): void {
  if (group === undefined) return;
  group.remove();
  for (const delayMs of [20, 200]) setTimeout(() => group.remove(), delayMs).unref();
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {} // It is gone.
}

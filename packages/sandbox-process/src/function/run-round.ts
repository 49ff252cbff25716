import type { GuestEnd, SandboxDriver } from "@callgate/contract";
import type { FunctionRequest } from "./function-request.ts";
import { writeFrame } from "../frames/frame-splitter.ts";
import { callFrame, endFrame, outputFrames } from "./round-frames.ts";

/**
 * Runs a program from its start with the answers it has had, until it ends or can only wait for another one. All it said is
 * told, from the beginning: the same program, seed and answers say the same. Nothing of it lives when this resolves.
 */
export async function runRound(driver: SandboxDriver, { job, completions }: FunctionRequest, signal: AbortSignal): Promise<readonly Buffer[]> {
  const frames: Buffer[] = [];
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const finish = (): void => {
    isOver = true;
    over.resolve();
  };
  let end: GuestEnd | undefined;
  let delivered = 0;
  // Console output is bounded once, by the driver that asked: its head and tail are of the whole run.
  const run = driver.start(job, {
    onCalls(calls) {
      if (!isOver) frames.push(...calls.map(callFrame));
    },
    onOutput(output) {
      if (!isOver) frames.push(...output.flatMap(outputFrames));
    },
    onBlocked(taken) {
      if (isOver || taken < delivered) return;
      frames.push(blockedFrame(taken));
      const next = completions[taken];
      if (next === undefined) return finish();
      delivered = taken + 1;
      run.deliver([next]);
    },
  });
  const stop = (): void => run.cancel();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  run.ended.then((ended) => {
    if (!isOver) end = ended;
    finish();
  }, finish);
  await over.promise;
  if (end === undefined) run.cancel();
  await run.ended;
  signal.removeEventListener("abort", stop);
  return end === undefined || end.kind === "cancelled" ? frames : [...frames, endFrame(end)];
}

function blockedFrame(delivered: number): Buffer {
  return writeFrame({ k: "blocked", delivered });
}

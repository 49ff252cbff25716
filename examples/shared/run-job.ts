import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, scriptedModel } from "callgate";
import type { AgentEvent, AgentModel, AgentResult } from "callgate";
import type { CannotRun, Check, Job, JobPlace, OpenJob } from "./job.ts";
import { readMeter } from "./meter.ts";
import type { Meter } from "./meter.ts";

export interface JobReport {
  readonly result: AgentResult;
  readonly meter: Meter;
  readonly checks: readonly Check[];
  /** Every check is met, and was not before the work. What the model answered does not count. */
  readonly isReached: boolean;
}

export interface JobOptions {
  /** Default `small`. */
  readonly scale?: "small" | "full";
  /** Default: the job's script. */
  readonly model?: AgentModel;
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Lets an agent do a job in a fresh world, and looks at the world afterwards. */
export async function runJob(job: Job, { scale = "small", model, onEvent = () => undefined }: JobOptions = {}): Promise<JobReport | CannotRun> {
  return await inWorld(job, { scale, ...(model === undefined ? {} : { model }) }, async (open) => {
    const { gate, script } = open;
    const { task, instructions, mode = "code", languages } = job;
    const heard = { calls: 0, contextTokens: 0 };
    const stop = gate.onEvent((event) => {
      if (event.kind === "call-ended") heard.calls++;
    });
    const agent = createAgent({
      name: job.name,
      model: model ?? scriptedModel(script),
      gate,
      mode,
      ...(instructions === undefined ? {} : { instructions }),
      ...(languages === undefined ? {} : { languages }),
    });
    const wasReached = isMet(await open.check());
    const startedMs = performance.now();
    const result = await agent.run(task, {
      onEvent(event) {
        if (event.kind === "model-end") heard.contextTokens = event.usage.inputTokens;
        onEvent(event);
      },
    });
    const durationMs = performance.now() - startedMs;
    stop();
    const { turns, inputTokens, isEstimated } = result.usage;
    const meter = await readMeter(gate, { task, runIds: result.calls.flatMap(({ runIds }) => runIds), calls: heard.calls, durationMs, here: { turns, contextTokens: heard.contextTokens, inputTokens, isEstimated } });
    const checks = await open.check();
    return { result, meter, checks, isReached: !wasReached && isMet(checks) };
  });
}

/** Opens a job's world, and leaves nothing of it. */
export async function inWorld<Result>(job: Job, how: Omit<JobPlace, "folder">, work: (world: OpenJob) => Promise<Result>): Promise<Result | CannotRun> {
  const folder = mkdtempSync(join(tmpdir(), `callgate-${job.name}-`));
  try {
    const world = await job.open({ folder, ...how });
    if ("missing" in world) return world;
    try {
      await world.gate.ready();
      return await work(world);
    } finally {
      await world.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isMet(checks: readonly Check[]): boolean {
  return checks.every(({ ok }) => ok);
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createCallgate, scriptedModel } from "callgate";
import type { AgentEvent, AgentModel, AgentResult, CallgateOptions, Gate } from "callgate";
import type { CannotRun, Check, Job, JobScale, OpenJob } from "./job.ts";
import { readMeter } from "./meter.ts";
import type { Meter } from "./meter.ts";

export interface JobReport {
  readonly result: AgentResult;
  readonly meter: Meter;
  readonly checks: readonly Check[];
  /** Every check is met, and was not before the work. What the model answered does not count. */
  readonly isReached: boolean;
  /** What the world stood on, where that depends on the machine. */
  readonly standsOn?: string;
}

/** Opens a gate whose state is kept in a folder. */
export type OpenGate = (options: CallgateOptions, stateFolder: string) => Promise<Gate>;

export interface WorldOptions {
  /** Default `small`. */
  readonly scale?: JobScale;
  /** Default: the job's script. */
  readonly model?: AgentModel;
  /** Default: `createCallgate`. */
  readonly openGate?: OpenGate;
}

export interface JobOptions extends WorldOptions {
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Lets an agent do a job in a fresh world, and looks at the world afterwards. */
export async function runJob(job: Job, { model, onEvent = () => undefined, ...how }: JobOptions = {}): Promise<JobReport | CannotRun> {
  return await inWorld(job, { ...how, ...(model === undefined ? {} : { model }) }, async (open) => {
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
    return { result, meter, checks, isReached: !wasReached && isMet(checks), ...(open.standsOn === undefined ? {} : { standsOn: open.standsOn }) };
  });
}

/** Opens a job's world, and leaves nothing of it. */
export async function inWorld<Result>(job: Job, { scale = "small", model, openGate = openOwn }: WorldOptions, work: (world: OpenJob) => Promise<Result>): Promise<Result | CannotRun> {
  const folder = mkdtempSync(join(tmpdir(), `callgate-${job.name}-`));
  const gates: Gate[] = [];
  let world: OpenJob | CannotRun | undefined;
  try {
    world = await job.open({
      folder,
      scale,
      ...(model === undefined ? {} : { model }),
      async openGate(options) {
        const gate = await openGate({ folder, ...options }, join(folder, "state"));
        gates.push(gate);
        return gate;
      },
    });
    if ("missing" in world) return world;
    await world.gate.ready();
    return await work(world);
  } finally {
    for (const gate of gates) await gate.close();
    if (world !== undefined && !("missing" in world)) await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openOwn(options: CallgateOptions, stateFolder: string): Promise<Gate> {
  return await createCallgate({ ...options, stateFolder });
}

function isMet(checks: readonly Check[]): boolean {
  return checks.every(({ ok }) => ok);
}

import { CallgateError } from "@callgate/contract";
import type { GuestCall, GuestJob, GuestOutput, RunRecord, SandboxDriver } from "@callgate/contract";
import { driveGuest } from "./drive-guest.ts";
import { missingCall, readEnd } from "./execute.ts";
import type { Executed } from "./execute.ts";
import { unavailable } from "./recorded-run.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { createReplayScript, endedByItself } from "./replay-script.ts";
import type { Divergence } from "./replay-script.ts";
import { driverFor } from "./runner.ts";

/** How a recorded program came out when it was executed again. */
export interface ReExecuted extends Pick<Executed, "end" | "value"> {
  readonly divergence: Divergence | undefined;
  /** The record ends before the program does: the run was cancelled, hit a limit or lost its process. */
  readonly cutShort: boolean;
}

export interface ReExecuting {
  readonly driver: SandboxDriver;
  readonly job: GuestJob;
  readonly signal: AbortSignal;
  /** Resolves when the program said more than it may. */
  readonly tooMuch?: Promise<void>;
  /** The answers are not what they were, so arguments may differ. */
  readonly otherArguments?: boolean;
}

/** Hears what the program does; before the answers to it are handed over. */
export interface ReExecutionHearing {
  readonly output?: (said: readonly GuestOutput[]) => void;
  readonly issued?: (calls: readonly GuestCall[]) => void;
  readonly blocked?: () => void;
}

/**
 * Executes a recorded program with the answers of its record. Nothing of it has an effect, and nothing is written down.
 *
 * Errors: REPLAY_UNAVAILABLE when it was cancelled; the reason of `signal` where that is a `CallgateError`.
 */
export async function reExecute(recorded: RecordedRun, { driver, job, signal, tooMuch, otherArguments = false }: ReExecuting, hearing: ReExecutionHearing): Promise<ReExecuted> {
  const stop = (): void => guest.stop({ kind: "cancelled" });
  const script = createReplayScript({ recorded, deliver: (completions) => guest.deliver(completions), stop, atEnd: stop, otherArguments });
  const guest = driveGuest(driver, job, {
    calls(calls) {
      hearing.issued?.(calls);
      script.issued(calls);
    },
    output: (said) => hearing.output?.(said),
    blocked(delivered) {
      hearing.blocked?.();
      script.blocked(delivered);
    },
  });
  tooMuch?.then(stop, stop);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const ended = readEnd(await guest.ended, job.limits.resultBytes);
  signal.removeEventListener("abort", stop);
  if (signal.aborted) throw signal.reason instanceof CallgateError ? signal.reason : new CallgateError("REPLAY_UNAVAILABLE", `The replay of ${recorded.run.runId} was cancelled`);
  const cutShort = ended.end.kind === "cancelled" && script.divergence === undefined && !endedByItself(recorded);
  return { ...ended, divergence: script.divergence ?? (cutShort ? undefined : missingCall(ended.end, script.missing())), cutShort };
}

/** The sandbox that a recorded program is executed in again. Errors: REPLAY_UNAVAILABLE where that cannot do it. */
export function replayDriver(run: RunRecord, drivers: readonly SandboxDriver[]): SandboxDriver {
  const driver = driverOf(run, drivers);
  if (!driver.replayable) throw unavailable(run, `the sandbox ${driver.name} cannot execute a program the same way twice`);
  return driver;
}

/** The sandbox that a recorded program ran in, or one for its language. */
export function driverOf(run: RunRecord, drivers: readonly SandboxDriver[]): SandboxDriver {
  const language = run.language ?? "typescript";
  return drivers.find(({ name, languages }) => name === run.driver && languages.includes(language)) ?? driverFor(drivers, language);
}

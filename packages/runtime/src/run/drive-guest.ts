import type { GuestCall, GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestRun, SandboxDriver } from "@callgate/contract";

/** A guest under way, whose end may have been decided by the gate. */
export interface DrivenGuest {
  deliver(completions: readonly GuestCompletion[]): void;
  /** Ends the guest; the run's end is `end`, unless the guest came to one of its own first. */
  stop(end: GuestEnd): void;
  /** Never rejects. */
  readonly ended: Promise<GuestEnd>;
}

export interface GuestHearing {
  calls(calls: readonly GuestCall[]): void;
  output: GuestHost["onOutput"];
  blocked?(delivered: number): void;
}

/** Starts a guest. A driver that breaks its contract by throwing ends the run as `crashed`. */
export function driveGuest(driver: SandboxDriver, job: GuestJob, hearing: GuestHearing): DrivenGuest {
  let run: GuestRun | undefined;
  let stopped: GuestEnd | undefined;
  let early: (readonly GuestCompletion[])[] = [];
  const host: GuestHost = {
    onCalls: (calls) => hearing.calls(calls),
    onOutput: (output) => hearing.output(output),
    onBlocked: (delivered) => hearing.blocked?.(delivered),
  };

  async function drive(): Promise<GuestEnd> {
    try {
      run = driver.start(job, host);
      for (const completions of early) run.deliver(completions);
      early = [];
      if (stopped !== undefined) run.cancel();
      const end = await run.ended;
      return end.kind === "cancelled" ? (stopped ?? end) : end;
    } catch (fault) {
      return { kind: "crashed", message: fault instanceof Error ? fault.message : "the sandbox driver failed" };
    }
  }

  return {
    ended: drive(),
    deliver(completions) {
      if (run === undefined) early.push(completions);
      else run.deliver(completions);
    },
    stop(end) {
      stopped ??= end;
      run?.cancel();
    },
  };
}

import type { CallTrace } from "./call-trace.ts";
import type { GuestConsoleEntry } from "./guest-frames.ts";
import type { Digest } from "./json.ts";
import type { OnFailure } from "./journal.ts";
import type { RunLimits } from "./limits.ts";
import type { Caller } from "./principal.ts";
import type { NewCalls } from "./run-edit.ts";
import type { EditResult, Recording, RunDiff, RunSteps } from "./time-travel.ts";

/** A changed program, and what becomes of what is new in it. The rest as in `RunOptions`. */
export interface EditOptions extends Caller {
  /** Default: the recorded one. */
  readonly program?: string;
  /** Default `stop`. */
  readonly newCalls?: NewCalls;
  /** As in `RunOptions`. Default: of a run on record, what its program was checked against. */
  readonly interfaces?: Readonly<Record<string, Digest>>;
  readonly budgetTokens?: number;
  readonly limits?: Partial<RunLimits>;
  readonly onFailure?: OnFailure;
  readonly questions?: "keep";
  readonly onOutput?: (entries: readonly GuestConsoleEntry[]) => void;
}

/** What can be done with a run's record beside reading it. */
export interface GateTimeTravel {
  /**
   * The run taken apart: each call with its place in the program, arguments, answer, and what was printed by then. It is
   * executed again with its recorded answers; nothing is called and nothing recorded.
   *
   * Errors: RUN_NOT_FOUND, REPLAY_UNAVAILABLE.
   */
  steps(runId: string, options?: Caller): Promise<RunSteps>;
  /**
   * Executes a changed program with the answers of a recorded run, or of a recording: a call is answered that the record
   * has with the same tool and arguments, the nth of equal ones by the nth. Nothing happens to the world by those. The run
   * is recorded as one of its own.
   *
   * Errors: RUN_NOT_FOUND, REPLAY_UNAVAILABLE, RECORDING_INVALID, REHEARSED_ANSWERS (`ask` and `allow` where an answer is
   * the placeholder of a rehearsal), REHEARSAL_REFUSED (`stop` and `simulate` in a
   * sandbox with a folder or network of its own), USAGE.
   */
  edit(from: string | Recording, options: EditOptions): Promise<EditResult>;
  /** Two runs side by side, from their records. Errors: RUN_NOT_FOUND. */
  diff(a: string, b: string, options?: Caller): Promise<RunDiff>;
  /**
   * The caller's direct calls and programs that completed, with the clear values of their calls: among the newest `limit` runs
   * of the tenant, newest first. Default 1,000. Must not be reachable from a model.
   */
  traces(options?: Caller & { readonly limit?: number }): Promise<readonly CallTrace[]>;
  /**
   * What is needed to execute the run again anywhere, with placeholders for sensitive values: those its tools declare and
   * those detectors find. The program is executed with the placeholders, without an effect, so that the recording holds
   * what it does with them. Where its sandbox cannot execute it a second time there are none, and a run that needs one is refused.
   *
   * Errors: RUN_NOT_FOUND, REPLAY_UNAVAILABLE, RECORDING_INVALID (with placeholders it takes another way, or cannot have any).
   */
  recording(runId: string, options?: Caller): Promise<Recording>;
}

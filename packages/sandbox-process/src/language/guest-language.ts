import type { ProgramLanguage } from "@callgate/contract";
import type { MemoryReport } from "../output/memory-report.ts";

/** How programs of one language are run inside a sandbox. */
export interface GuestLanguage {
  readonly language: ProgramLanguage;
  /** Other names its programs come under. */
  readonly also?: readonly ProgramLanguage[];
  /**
   * `framed`: the command speaks the guest protocol on descriptors 3 and 4; programs can call tools.
   * `plain`: the command is started with the path of the program in place of `{file}`, or added; its exit code is the end
   * of the run.
   */
  readonly kind: "framed" | "plain";
  /**
   * Found on the PATH of the sandbox. `{guest}` is where `guestFile` is, `{program}` where `program` is, `{memoryMiB}` the
   * memory its programs may use.
   */
  readonly command: readonly string[];
  readonly guestFile?: URL;
  /** See `LaunchSpec.program`. */
  readonly program?: { readonly name: string; readonly file: string };
  readonly environment: Readonly<Record<string, string>>;
  /**
   * What all its memory may grow by beyond `memoryMiB` before the host ends it, from what the waiting interpreter uses.
   * Default: 96 MiB and the workspace, from nothing.
   */
  readonly growthMiB?: number;
  /** Ending of the program's file, for `plain`. */
  readonly extension?: string;
  /** True where the guest lowers its own memory when the job comes; others have what they were started with. */
  readonly lowersMemory?: boolean;
  /** See `LaunchBounds.reservedMiB`. */
  readonly reservedMiB?: number;
  readonly memoryReport?: MemoryReport;
  /**
   * When SIGINT is sent to what a block of a session runs, in milliseconds after it was to be interrupted, until it has
   * ended. Default: at once, and once. A guest of frames is told by a frame before.
   */
  readonly signalsMs?: readonly number[];
  /** How it keeps state from block to block; undefined where it cannot. */
  readonly session?: "frames" | "shell";
}

/** CPython 3.9 or newer, standard library only. Figures of matplotlib need no screen; one thread a library is enough for one core. */
export const pythonLanguage: GuestLanguage = {
  language: "python",
  kind: "framed",
  command: ["python3", "-I", "-u", "-X", "utf8", "{guest}"],
  guestFile: new URL("../../guests/callgate_guest.py", import.meta.url),
  environment: { MPLBACKEND: "Agg", OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" },
  lowersMemory: true,
  session: "frames",
};

/**
 * Bash without start-up files; programs call no tools. A command that a shell was just starting when the signal came has
 * not got it, and the shell goes on when that command does not end of it: so it comes again.
 */
export const shellLanguage: GuestLanguage = { language: "shell", kind: "plain", command: ["bash", "--noprofile", "--norc"], environment: {}, extension: "sh", session: "shell", signalsMs: [0, 100, 400, 1_500, 5_000] };

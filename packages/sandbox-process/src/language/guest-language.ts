import type { ProgramLanguage } from "@callgate/contract";

/** How programs of one language are run inside a sandbox. */
export interface GuestLanguage {
  readonly language: ProgramLanguage;
  /**
   * `framed`: the command speaks the guest protocol on descriptors 3 and 4; programs can call tools.
   * `plain`: the command is started with the path of the program added; its exit code is the end of the run.
   */
  readonly kind: "framed" | "plain";
  /** Found on the PATH of the sandbox. `{guest}` is where `guestFile` is. */
  readonly command: readonly string[];
  readonly guestFile?: URL;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * What all its memory may grow by beyond `memoryMiB` before the host ends it, from what the waiting interpreter uses.
   * Default: 96 MiB and the workspace, from nothing.
   */
  readonly growthMiB?: number;
  /** Ending of the program's file, for `plain`. */
  readonly extension?: string;
}

/** CPython 3.9 or newer, standard library only. Figures of matplotlib need no screen; one thread a library is enough for one core. */
export const pythonLanguage: GuestLanguage = {
  language: "python",
  kind: "framed",
  command: ["python3", "-I", "-u", "-X", "utf8", "{guest}"],
  guestFile: new URL("../../guests/callgate_guest.py", import.meta.url),
  environment: { MPLBACKEND: "Agg", OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" },
};

/** Bash without start-up files; programs call no tools. */
export const shellLanguage: GuestLanguage = { language: "shell", kind: "plain", command: ["bash", "--noprofile", "--norc"], environment: {}, extension: "sh" };

/**
 * Runs a plain program. The text comes on descriptor 3 and ends with it; output goes through `cat`, because what Node
 * gives a child are sockets, which a program cannot open again as /dev/stdout; the exit code goes to descriptor 4. The text
 * is no file of the working folder, which may be a user's.
 */
const plainBoot = 'file="${TMPDIR:-.}/$1"; shift; cat <&3 >"$file" && { { { "$@" "$file" 3<&- 4>&- 7>&- </dev/null; echo "$?" >&4; } 2>&1 >&7 | cat >&2; } 7>&1 | cat; }';

/** The command that a launcher starts for a language. */
export function launchCommand({ kind, command, extension }: GuestLanguage): readonly string[] {
  return kind === "framed" ? command : ["/bin/sh", "-c", plainBoot, "sh", `program.${extension ?? "txt"}`, ...command];
}

import { CallgateError } from "@callgate/contract";
import type { GuestRun, LimitName, ProgramLanguage, SandboxDriver } from "@callgate/contract";
import { createGuests } from "./host/guests.ts";
import { runInGuest } from "./host/guest-run.ts";
import { pythonLanguage, shellLanguage } from "./language/guest-language.ts";
import type { GuestLanguage } from "./language/guest-language.ts";
import type { LaunchBounds, Launcher, Mount } from "./launcher/launcher.ts";
import { checkMounts, currentMounts } from "./mounts/check-mounts.ts";
import type { MountRules } from "./mounts/check-mounts.ts";
import { createNetworkPolicy } from "./network/network-policy.ts";
import type { NetworkOptions } from "./network/network-policy.ts";
import { createNetworkedLauncher } from "./network/networked-launcher.ts";

/** Bounds of a guest that are no limits of a run. */
export interface SandboxBounds extends Omit<LaunchBounds, "memoryMiB"> {
  /** Files that come back of one run, together. */
  readonly artifactMiB: number;
  readonly artifacts: number;
}

export interface ProcessDriverOptions {
  readonly launcher: Launcher;
  /** Default: Python and shell. */
  readonly languages?: readonly GuestLanguage[];
  /** Programs under way at once; more wait in a queue. Default 16. */
  readonly maxGuests?: number;
  /** Interpreters kept ready for each language that was used. Default 1; 0 starts one for each run. */
  readonly warm?: number;
  readonly bounds?: Partial<SandboxBounds>;
  /** What of the host programs see. Checked here and again for each guest. */
  readonly mounts?: readonly Mount[];
  /** What must not be mounted beside what never may. */
  readonly mountRules?: MountRules;
  /** What programs may reach. Default: nothing. */
  readonly network?: NetworkOptions;
  /** What the guests of all `languages` promise: the same program, seed, clock and completions give the same calls. Default false. */
  readonly replayable?: boolean;
  /** Environment of programs beside HOME, PATH, LANG, TZ and TMPDIR. Never put a secret here: programs read it. */
  readonly environment?: Readonly<Record<string, string>>;
}

export const defaultSandboxBounds: SandboxBounds = { processes: 64, workspaceMiB: 64, workspaceFiles: 4_096, openFiles: 256, artifactMiB: 32, artifacts: 64 };

const enforced: readonly LimitName[] = ["cpuMs", "memoryMiB", "argumentBytes", "callResultBytes", "consoleBytes", "resultBytes"];

/**
 * Programs as processes of their own behind a launcher's walls: real CPython, bash, whatever the sandbox has.
 *
 * A run gets an interpreter that ran nothing before and is ended with everything it started. Console output keeps its
 * beginning and its end. Not replayable unless its guests say so: clock, threads and hash
 * order of a real process are its own.
 *
 * `memoryMiB` bounds the data of each process, and all together where the launcher can make a control group; `stackKiB`
 * is the operating system's. Throws `CallgateError` CONFIG_INVALID for wrong options, MOUNT_REFUSED for a mount that must
 * not be made. The launcher is probed by the first
 * run; where it does not work, every run ends `crashed` with the reason and what to do, and none is started with less.
 */
export function createProcessDriver(options: ProcessDriverOptions): SandboxDriver {
  const { languages = [pythonLanguage, shellLanguage], maxGuests = 16, warm = 1, mounts = [], environment = {}, replayable = false } = options;
  if (!Number.isInteger(maxGuests) || maxGuests < 1 || !Number.isInteger(warm) || warm < 0) {
    throw new CallgateError("CONFIG_INVALID", "Cannot create the process sandbox: maxGuests must be a whole number from 1 and warm one from 0");
  }
  if (options.launcher.isElsewhere !== true) checkMounts(mounts, options.mountRules);
  const mountsNow = (): readonly Mount[] => (options.launcher.isElsewhere === true ? mounts : currentMounts(mounts, options.mountRules));
  const launcher = options.network === undefined || options.network.allow.length === 0 ? options.launcher : createNetworkedLauncher(options.launcher, createNetworkPolicy(options.network));
  const { artifactMiB, artifacts, ...launchBounds } = { ...defaultSandboxBounds, ...options.bounds };
  const running = new Set<GuestRun>();
  const guests = createGuests({ launcher, warm, maxGuests, bounds: launchBounds, artifacts: { artifactMiB, artifacts }, mountsNow, environment });
  let closing: Promise<void> | undefined;

  return {
    // Of several, which one was taken is known once it was tried.
    get name() {
      return launcher.name;
    },
    languages: languages.flatMap(namesOf),
    replayable,
    sessions: languages.some(({ session }) => session !== undefined),
    artifacts: artifacts > 0,
    limits: enforced,
    start(job, host) {
      if (closing !== undefined) throw new CallgateError("CLOSED", "Cannot start a program: the sandbox was closed");
      const run = runInGuest({ job, host, acquire: guests.forRun(languageOf(languages, job.language), job.limits.memoryMiB), artifacts: { artifactMiB, artifacts } });
      running.add(run);
      run.ended.then(() => running.delete(run), () => undefined);
      return run;
    },
    openSession(session) {
      if (closing !== undefined) throw new CallgateError("CLOSED", "Cannot open a session: the sandbox was closed");
      const language = languageOf(languages, session.language);
      if (language.session === undefined) throw new CallgateError("DRIVER_FAILED", `This sandbox keeps no state of ${session.language} programs`);
      return guests.openSession(session, language);
    },
    close() {
      closing ??= (async () => {
        const open = [...running];
        for (const run of open) run.cancel();
        await Promise.all(open.map(({ ended }) => ended));
        await guests.close();
        await launcher.close?.();
      })();
      return closing;
    },
  };
}

function languageOf(languages: readonly GuestLanguage[], wanted: ProgramLanguage): GuestLanguage {
  const found = languages.find((language) => namesOf(language).includes(wanted));
  if (found === undefined) throw new CallgateError("DRIVER_FAILED", `This sandbox does not run ${wanted}; it runs ${languages.flatMap(namesOf).join(", ")}`);
  return found;
}

function namesOf({ language, also = [] }: GuestLanguage): readonly ProgramLanguage[] {
  return [language, ...also];
}

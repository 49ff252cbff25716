import { CallgateError } from "@callgate/contract";
import type { GuestRun, LimitName, ProgramLanguage, SandboxDriver } from "@callgate/contract";
import { defaultLimits } from "@callgate/contract";
import { createSlots } from "../host/slots.ts";
import type { ArtifactBounds } from "../host/artifact-bounds.ts";
import { createFunctionClient } from "./function-client.ts";
import { runInFunction } from "./function-run.ts";
import { functionProtocolVersion } from "./round-frames.ts";

export interface HttpFunctionOptions {
  /** Where the function is: https, or http on this machine. */
  readonly url: string;
  /** What it was given as its token. */
  readonly token: string;
  /** Requests under way at once; more wait. Default 16. */
  readonly maxRequests?: number;
  /** How long one request may take. Default 120 seconds. */
  readonly requestMs?: number;
  /** What files of a run may come back. Default 64 and 32 MiB. */
  readonly artifacts?: Partial<ArtifactBounds>;
}

/** What a function says of itself. */
interface Described {
  readonly protocol: number;
  readonly languages: readonly ProgramLanguage[];
  readonly limits: readonly LimitName[];
  readonly artifacts: boolean;
}

/**
 * Programs in a function that a user deploys (`createFunctionHandler`): of a cloud, in a microVM, on any host that answers
 * HTTP. Each round of calls is a request: the program runs from its start with all the answers it has had, until it ends or
 * waits for more. So the function keeps nothing, and nothing lives there while a tool works or a person thinks.
 *
 * Replayable; no sessions. A program of `n` rounds runs `n` times, its last one within `cpuMs`. A request that fails ends
 * the run as `crashed`, with the effects it had as always.
 *
 * Rejects with `CallgateError` CONFIG_INVALID for an address that is not safe, DRIVER_FAILED where no function answers that
 * speaks this protocol.
 */
export async function createHttpFunctionDriver(options: HttpFunctionOptions): Promise<SandboxDriver> {
  const { maxRequests = 16, requestMs = 120_000 } = options;
  if (!Number.isInteger(maxRequests) || maxRequests < 1 || !(requestMs > 0)) throw new CallgateError("CONFIG_INVALID", "Cannot use the function: maxRequests is a whole number from 1, requestMs above 0");
  const artifacts: ArtifactBounds = { artifactMiB: 32, artifacts: 64, ...options.artifacts };
  const client = createFunctionClient({ url: options.url, token: options.token, requestMs, slots: createSlots(maxRequests) });
  const described = parseDescription(await client.describe());
  const running = new Set<GuestRun>();
  let isClosed = false;

  return {
    name: "function",
    languages: described.languages,
    replayable: true,
    sessions: false,
    artifacts: described.artifacts,
    limits: described.limits,
    start(job, host) {
      if (isClosed) throw new CallgateError("CLOSED", "Cannot start a program: the sandbox was closed");
      if (!described.languages.includes(job.language)) throw new CallgateError("DRIVER_FAILED", `This function does not run ${job.language}; it runs ${described.languages.join(", ")}`);
      const run = runInFunction({ job, host, client, artifacts });
      running.add(run);
      run.ended.then(() => running.delete(run), () => undefined);
      return run;
    },
    async close() {
      isClosed = true;
      const open = [...running];
      for (const run of open) run.cancel();
      await Promise.all(open.map(({ ended }) => ended));
    },
  };
}

function parseDescription(value: unknown): Described {
  const { protocol, languages, limits, artifacts } = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const texts = (list: unknown): list is readonly string[] => Array.isArray(list) && list.every((entry) => typeof entry === "string");
  if (protocol !== functionProtocolVersion || !texts(languages) || !texts(limits) || typeof artifacts !== "boolean") {
    throw new CallgateError("DRIVER_FAILED", `The function does not speak version ${functionProtocolVersion} of the protocol: deploy createFunctionHandler of the same Callgate`);
  }
  const known = Object.keys(defaultLimits);
  return { protocol, languages, limits: limits.filter((name): name is LimitName => known.includes(name)), artifacts };
}

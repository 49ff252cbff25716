import type { GuestCall, GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestOutput } from "@callgate/contract";
import type { HostMessage, StretchMessage } from "../worker/messages.ts";

/** Beyond this much of recorded answers a guest cannot be moved to another thread any more. */
const maxLogChars = 64 * 1024 * 1024;

/**
 * The host's record of one guest. Besides the promise it keeps what the guest was told and what it did, so that the
 * guest can be run again from the start elsewhere, unnoticed, when its thread is lost or blocked by another one.
 */
export interface LiveGuest {
  readonly job: GuestJob;
  /** Changes with each incarnation; what an earlier one still says is not listened to. */
  key: number;
  slot: number;
  readonly ended: Promise<GuestEnd>;
  readonly isEnded: boolean;
  /** When somebody asked for the end, in monotonic ms. */
  cancelledAtMs: number | undefined;
  /** CPU used by this incarnation, as last reported. */
  cpuMs: number;
  restarts: number;
  /** True while its thread owes an answer. */
  readonly isAwaited: boolean;
  /** True when it can be run again from its record. */
  readonly isRepeatable: boolean;
  /** Records completions on their way to the guest. */
  record(completions: readonly GuestCompletion[]): void;
  /** Messages that bring a new incarnation to where the guest is. */
  incarnate(key: number, slot: number): readonly HostMessage[];
  /** Notes that a message went to the thread. */
  posted(): void;
  /** Takes what a stretch gave and tells the gate what is new in it. Returns the guest's end when it ended. */
  take(message: StretchMessage): GuestEnd | undefined;
  finish(end: GuestEnd): void;
}

export function createLiveGuest(job: GuestJob, host: GuestHost): LiveGuest {
  let resolveEnd: (end: GuestEnd) => void = () => {};
  const ended = new Promise<GuestEnd>((resolve) => {
    resolveEnd = resolve;
  });
  let isEnded = false;
  let log: GuestCompletion[] = [];
  let logChars = 0;
  let recorded = 0;
  let isRepeatable = true;
  const issued: string[] = [];
  let outputCount = 0;
  /** What of an incarnation's doings was seen before. */
  let callsSeenAgain = 0;
  let outputsSeenAgain = 0;
  let blockedAt = -1;
  let owed = 0;

  const freshCalls = (calls: readonly GuestCall[]): readonly GuestCall[] | undefined => {
    const fresh: GuestCall[] = [];
    for (const call of calls) {
      const signature = signatureOf(call);
      if (callsSeenAgain < issued.length) {
        if (issued[callsSeenAgain] !== signature) return undefined;
        callsSeenAgain += 1;
        continue;
      }
      issued.push(signature);
      callsSeenAgain += 1;
      fresh.push(call);
    }
    return fresh;
  };

  const freshOutputs = (outputs: readonly GuestOutput[]): readonly GuestOutput[] => {
    const fresh = outputs.slice(Math.max(0, outputCount - outputsSeenAgain));
    outputsSeenAgain += outputs.length;
    outputCount = Math.max(outputCount, outputsSeenAgain);
    return fresh;
  };

  return {
    job,
    key: 0,
    slot: 0,
    ended,
    get isEnded() {
      return isEnded;
    },
    cancelledAtMs: undefined,
    cpuMs: 0,
    restarts: 0,
    get isAwaited() {
      return owed > 0;
    },
    get isRepeatable() {
      return isRepeatable;
    },
    record(completions) {
      recorded += completions.length;
      for (const completion of completions) if (completion.result.kind === "value") logChars += completion.result.value.json.length;
      if (logChars > maxLogChars) [isRepeatable, log] = [false, []];
      if (isRepeatable) log.push(...completions);
    },
    incarnate(key, slot) {
      this.key = key;
      this.slot = slot;
      this.cpuMs = 0;
      [owed, callsSeenAgain, outputsSeenAgain] = [0, 0, 0];
      const { code, modulesDigest, seed, startMs, limits } = job;
      const start: HostMessage = { kind: "start", key, slot, code, modulesDigest, seed, startMs, limits };
      return log.length === 0 ? [start] : [start, { kind: "deliver", key, completions: log.slice() }];
    },
    posted() {
      owed += 1;
    },
    take(message) {
      owed -= 1;
      this.cpuMs = message.cpuMs;
      const outputs = freshOutputs(message.outputs);
      const calls = freshCalls(message.calls);
      if (outputs.length > 0) host.onOutput(outputs);
      if (calls === undefined) return { kind: "crashed", message: "The program was moved to another thread and did not do the same again" };
      if (calls.length > 0) host.onCalls(calls);
      if (message.end !== undefined) return message.end;
      if (message.delivered > blockedAt && (message.delivered === recorded || callsSeenAgain >= issued.length)) {
        blockedAt = message.delivered;
        host.onBlocked?.(message.delivered);
      }
      return undefined;
    },
    finish(end) {
      isEnded = true;
      log = [];
      resolveEnd(end);
    },
  };
}

/** Enough to tell that a repeated call is another one. */
function signatureOf(call: GuestCall): string {
  if (call.kind === "timer") return `timer ${call.delayMs}`;
  const { json } = call.args;
  return `${call.kind === "tool" ? call.tool : call.name} ${json.length > 256 ? `${json.length} ${json.slice(0, 128)}` : json}`;
}

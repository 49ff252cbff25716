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
  const { promise: ended, resolve } = Promise.withResolvers<GuestEnd>();
  const done = createDoings();
  const answers = createAnswers();
  let isEnded = false;
  let owed = 0;
  return {
    job,
    ended,
    key: 0,
    slot: 0,
    cancelledAtMs: undefined,
    cpuMs: 0,
    restarts: 0,
    get isEnded() {
      return isEnded;
    },
    get isAwaited() {
      return owed > 0;
    },
    get isRepeatable() {
      return answers.isKept();
    },
    record: (completions) => answers.add(completions),
    incarnate(key, slot) {
      Object.assign(this, { key, slot, cpuMs: 0 });
      owed = 0;
      done.beginAgain();
      const { code, modulesDigest, seed, startMs, limits, places } = job;
      const start: HostMessage = { kind: "start", key, slot, code, modulesDigest, seed, startMs, limits, ...(places === undefined ? {} : { places }) };
      const completions = answers.all();
      return completions.length === 0 ? [start] : [start, { kind: "deliver", key, completions }];
    },
    posted() {
      owed += 1;
    },
    take(message) {
      if (message.isPart !== true) owed -= 1;
      this.cpuMs = message.cpuMs;
      const outputs = done.newOutputs(message.outputs);
      const calls = done.newCalls(message.calls);
      if (outputs.length > 0) host.onOutput(outputs);
      if (calls === undefined) return { kind: "crashed", message: "The program was moved to another thread and did not do the same again" };
      if (calls.length > 0) host.onCalls(calls);
      if (message.isPart !== true && message.end === undefined && done.isNewlyBlocked(message.delivered)) host.onBlocked?.(message.delivered);
      return message.end;
    },
    finish(end) {
      isEnded = true;
      answers.drop();
      resolve(end);
    },
  };
}

interface Answers {
  add(completions: readonly GuestCompletion[]): void;
  all(): readonly GuestCompletion[];
  /** False once they were too many to keep. */
  isKept(): boolean;
  drop(): void;
}

/** What a guest was told, in order. */
function createAnswers(): Answers {
  let log: GuestCompletion[] = [];
  let chars = 0;
  return {
    add(completions) {
      for (const { result } of completions) chars += result.kind === "value" ? result.value.json.length : result.error.message.length;
      if (chars > maxLogChars) log = [];
      else log.push(...completions);
    },
    all: () => log.slice(),
    isKept: () => chars <= maxLogChars,
    drop() {
      log = [];
    },
  };
}

interface Doings {
  /** From now on what comes is a repetition, until it passes what came before. */
  beginAgain(): void;
  /** What was not seen before. Undefined when a repeated call is not the one it was. */
  newCalls(calls: readonly GuestCall[]): readonly GuestCall[] | undefined;
  newOutputs(outputs: readonly GuestOutput[]): readonly GuestOutput[];
  isNewlyBlocked(delivered: number): boolean;
}

/** What a guest did, as far as the gate was told. */
function createDoings(): Doings {
  const issued: string[] = [];
  let callsAgain = 0;
  let outputCount = 0;
  let outputsAgain = 0;
  let blockedAt = -1;
  return {
    beginAgain() {
      callsAgain = 0;
      outputsAgain = 0;
    },
    newCalls(calls) {
      const fresh: GuestCall[] = [];
      for (const call of calls) {
        const signature = signatureOf(call);
        if (callsAgain === issued.length) {
          issued.push(signature);
          fresh.push(call);
        } else if (issued[callsAgain] !== signature) return undefined;
        callsAgain += 1;
      }
      return fresh;
    },
    newOutputs(outputs) {
      const fresh = outputs.slice(Math.max(0, outputCount - outputsAgain));
      outputsAgain += outputs.length;
      outputCount = Math.max(outputCount, outputsAgain);
      return fresh;
    },
    isNewlyBlocked(delivered) {
      if (delivered <= blockedAt) return false;
      blockedAt = delivered;
      return true;
    },
  };
}

/** Enough to tell that a repeated call is another one. */
function signatureOf(call: GuestCall): string {
  if (call.kind === "timer") return `timer ${call.delayMs}`;
  const { json } = call.args;
  return `${call.kind === "tool" ? call.tool : call.name} ${json.length > 256 ? `${json.length} ${json.slice(0, 128)}` : json}`;
}

import type { RecordedValue, RunSignal, RunWait, WireValue } from "@callgate/contract";
import { eraseError, erasedText } from "./entry-codec.ts";
import type { SplitEntry } from "./entry-codec.ts";

/** A signal cut in two, as an entry is: `body` still reads after an erase, `texts` and `value` are sealed. */
export interface SplitSignal {
  readonly body: RunSignal;
  readonly texts: SplitEntry["texts"];
  readonly value: WireValue | undefined;
}

/** What makes a signal the same as another: the first of its kind, name and key counts. Without a key each is its own. */
export interface SignalName {
  readonly kind: RunSignal["kind"];
  /** Of an event; empty for others. */
  readonly name: string;
  readonly key: string | undefined;
}

export function signalName(signal: RunSignal): SignalName {
  switch (signal.kind) {
    case "approval":
      return { kind: signal.kind, name: "", key: signal.approvalId };
    case "answer-refused":
      return { kind: signal.kind, name: signal.approvalId, key: undefined };
    case "event":
      return { kind: signal.kind, name: signal.name, key: signal.id };
    case "job":
      return { kind: signal.kind, name: "", key: signal.callId };
    case "resolution":
      return { kind: signal.kind, name: "", key: resolutionKey(signal) };
  }
}

export function splitSignal(signal: RunSignal): SplitSignal {
  switch (signal.kind) {
    case "approval": {
      const { reason, args } = signal;
      return { body: { ...signal, ...(reason === undefined ? {} : { reason: erasedText }), ...(args === undefined ? {} : { args: unclear(args) }) }, texts: reason === undefined ? undefined : { reason }, value: args?.clear };
    }
    case "answer-refused":
      return { body: signal, texts: undefined, value: undefined };
    case "event":
      return { body: { ...signal, payload: unclear(signal.payload) }, texts: undefined, value: signal.payload.clear };
    case "job": {
      const { result } = signal;
      if (result.kind === "error") return { body: { ...signal, result: { kind: "error", error: eraseError(result.error) } }, texts: { result }, value: undefined };
      return { body: { ...signal, result: { kind: "value", value: unclear(result.value) } }, texts: undefined, value: result.value.clear };
    }
    case "resolution":
      return signal.output === undefined ? { body: signal, texts: undefined, value: undefined } : { body: { ...signal, output: unclear(signal.output) }, texts: undefined, value: signal.output.clear };
  }
}

export function joinSignal(body: RunSignal, texts: SplitSignal["texts"], clear: WireValue | undefined): RunSignal {
  const signal = texts === undefined ? body : ({ ...body, ...texts } as RunSignal);
  if (clear === undefined) return signal;
  switch (signal.kind) {
    case "approval":
      return signal.args === undefined ? signal : { ...signal, args: { ...signal.args, clear } };
    case "answer-refused":
      return signal;
    case "event":
      return { ...signal, payload: { ...signal.payload, clear } };
    case "job":
      return signal.result.kind === "error" ? signal : { ...signal, result: { kind: "value", value: { ...signal.result.value, clear } } };
    case "resolution":
      return signal.output === undefined ? signal : { ...signal, output: { ...signal.output, clear } };
  }
}

/** Whether one of the waits is answered by what was said to the run so far. Time is not looked at. */
export function isAnswered(waits: readonly RunWait[], said: readonly SignalName[]): boolean {
  return waits.some((wait) => {
    switch (wait.kind) {
      case "approval":
        return said.some(({ kind, key }) => kind === "approval" && key === wait.question.approvalId);
      case "job":
        return said.some(({ kind, key }) => kind === "job" && key === wait.callId);
      case "resolution":
        return said.some(({ kind, key }) => kind === "resolution" && key === resolutionKey(wait));
      case "event":
        return said.filter(({ kind, name }) => kind === "event" && name === wait.name).length > wait.occurrence;
      case "timer":
        return false;
    }
  });
}

/** Most that is said to one run: whoever goes on with it reads all of it. */
export const maxSignals = 10_000;

/** Whether there is no room for one more at that position. What a call waits for is bounded by the calls, and always has room. */
export function isOverLimit({ kind }: SignalName, position: number): boolean {
  return position >= maxSignals && (kind === "event" || kind === "answer-refused");
}

/** Whether it matters how many events of that name there are. */
export function isCounted(waits: readonly RunWait[], said: SignalName): boolean {
  return said.kind === "event" && waits.some((wait) => wait.kind === "event" && wait.name === said.name);
}

/**
 * Whether what is said now is what one of the waits is for. What was said before was looked at when the run was suspended.
 *
 * @param events how many of its name there are with this one, where that matters
 */
export function isAnsweredBy(waits: readonly RunWait[], said: SignalName, events: number): boolean {
  return waits.some((wait) => (wait.kind === "event" ? said.kind === "event" && said.name === wait.name && events > wait.occurrence : isAnswered([wait], [said])));
}

function resolutionKey({ callId, attempt }: { readonly callId: string; readonly attempt: number }): string {
  return `${callId} ${attempt}`;
}

/** Where the sealed part of a signal belongs; authenticated, so that rows cannot be swapped. */
export function signalPlace(runId: string, position: number): string {
  return `${runId}\nsignal ${position}`;
}

/** Where the sealed part of what a suspended run waits for belongs. */
export function waitsPlace(runId: string): string {
  return `${runId}\nwaits`;
}

function unclear({ digest, summary }: RecordedValue): RecordedValue {
  return { digest, summary };
}

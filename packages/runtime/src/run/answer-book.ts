import type { CallError, DeliveredCall, Digest, Effect, EffectStatus, GuestCall, GuestCompletion, OutcomeKind, RecordedValue, SimulatedBy } from "@callgate/contract";
import { deliveredForm } from "./replay-script.ts";
import type { ResumePoint } from "./resume-point.ts";

/** An answer that a recorded program had, or was to have. */
export interface BookedAnswer {
  /** Its place in the order of answers. */
  readonly order: number;
  /** Issue order in the recorded run. */
  readonly seq: number;
  /** The program's clock when it came. */
  readonly atMs: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
  /** Of a tool call. */
  readonly tool?: BookedCall;
}

export interface BookedCall {
  readonly effect: Effect;
  readonly definitionDigest: Digest | undefined;
  readonly args: RecordedValue;
  readonly outcome: OutcomeKind;
  readonly error?: CallError;
  readonly value?: RecordedValue;
  /** What it came to when it was made. */
  readonly effectStatus: EffectStatus;
  readonly durationMs: number;
  /** It was rehearsed: the answer is a placeholder. */
  readonly simulated?: SimulatedBy;
}

/** Finds the recorded answer to a call of a program that may be another one. */
export interface AnswerBook {
  /** The answer to this call, by tool and arguments; of equal ones the first that was not taken. Undefined: there is none. */
  take(call: GuestCall): BookedAnswer | undefined;
  /** What was not taken, in issue order. */
  readonly left: readonly BookedAnswer[];
}

export function createAnswerBook(answers: readonly BookedAnswer[]): AnswerBook {
  const byCall = Map.groupBy([...answers].sort((a, b) => a.seq - b.seq), ({ call }) => keyOf(call));
  return {
    take: (call) => byCall.get(keyOf(deliveredForm(call)))?.shift(),
    get left() {
      return [...byCall.values()].flat().sort((a, b) => a.seq - b.seq);
    },
  };
}

function keyOf(call: DeliveredCall): string {
  switch (call.kind) {
    case "tool":
      return `tool ${call.tool} ${call.argsDigest}`;
    case "builtin":
      return `builtin ${call.name} ${call.argsDigest}`;
    case "timer":
      return `timer ${call.delayMs}`;
  }
}

/** All answers of a recorded run: those its program had, and those that came too late for it. */
export function answersOf({ recorded, calls, undelivered, lastMs }: ResumePoint): readonly BookedAnswer[] {
  const { completions } = recorded;
  // What undid the run's effects afterwards is no call of its program.
  const late = undelivered.filter(({ seq }) => calls.get(seq)?.issued?.compensates === undefined);
  const booked = (seq: number): Pick<BookedAnswer, "tool"> => {
    const { issued, ended, effectStatus } = calls.get(seq) ?? {};
    if (issued === undefined || ended === undefined) return {};
    const { outcome, error, result, durationMs, simulated } = ended;
    return { tool: { effect: issued.effect, definitionDigest: issued.definitionDigest, args: issued.args, outcome, effectStatus: effectStatus ?? ended.effectStatus, durationMs, ...(error === undefined ? {} : { error }), ...(simulated === undefined ? {} : { simulated }), ...(result === undefined ? {} : { value: result }) } };
  };
  return [
    ...completions.map(({ seq, atMs, call, result }, order): BookedAnswer => ({ order, seq, atMs, call, result, ...booked(seq) })),
    ...late.map(({ seq, call, result }, index): BookedAnswer => ({ order: completions.length + index, seq, atMs: lastMs, call, result, ...booked(seq) })),
  ];
}

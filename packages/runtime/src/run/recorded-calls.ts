import type { ApprovalQuestion, EffectStatus, JournalEntry, RecordedValue, RunSignal } from "@callgate/contract";
import type { CallPast } from "../broker/call-past.ts";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

/** How far the record of one tool call goes. */
export interface RecordedCall {
  readonly issued: Entry<"call-issued"> | undefined;
  /** It was issued after the end, and never ran. */
  readonly refused: boolean;
  readonly ended: Entry<"call-ended"> | undefined;
  /** The last that is known, when it ended. */
  readonly effectStatus: EffectStatus | undefined;
  /** Its result, or the one that came later. */
  readonly output: RecordedValue | undefined;
  /** What a person put in the place of its arguments: these were, or will be, performed. */
  readonly edited: RecordedValue | undefined;
  /** For a call that has not ended. */
  readonly past: CallPast;
}

interface Gathered {
  issued?: Entry<"call-issued">;
  refused: boolean;
  ended?: Entry<"call-ended">;
  effectStatus?: EffectStatus;
  output?: RecordedValue;
  begun: boolean;
  resolved: number;
  question?: ApprovalQuestion;
  edited?: RecordedValue;
  held?: CallPast["held"];
  job?: CallPast["job"];
  /** A person said that it happened when its process was lost and nobody had taken the run over. */
  settled?: Entry<"call-resolved">;
}

/** What the record of a run says of each of its tool calls, by `seq`, and what people have said to them since. */
export function readRecordedCalls(entries: readonly JournalEntry[], signals: readonly RunSignal[]): ReadonlyMap<number, RecordedCall> {
  const calls = new Map<number, Gathered>();
  for (const entry of entries) {
    if (!("seq" in entry) || entry.kind === "delivered") continue;
    let call = calls.get(entry.seq);
    if (call === undefined) calls.set(entry.seq, (call = { refused: false, begun: false, resolved: 0 }));
    note(call, entry);
  }
  return new Map([...calls].map(([seq, call]) => [seq, finished(call, signals)]));
}

function note(call: Gathered, entry: Extract<JournalEntry, { readonly seq: number }>): void {
  switch (entry.kind) {
    case "call-issued":
      call.issued = entry;
      break;
    case "call-refused":
      call.refused = true;
      break;
    case "approval-asked":
      call.question = entry.question;
      break;
    case "result-held":
      call.held = entry;
      call.output = entry.result;
      call.effectStatus = entry.effectStatus;
      break;
    case "call-edited":
      call.edited = entry.args;
      break;
    case "call-decided":
      if (entry.decision === "ask") break;
      // An answer was acted on: the question is not open any more.
      delete call.question;
      call.begun = entry.decision === "allow";
      break;
    case "call-backgrounded":
      call.job = { token: entry.token, untilMs: entry.untilMs, ...(entry.pollAfterMs === undefined ? {} : { pollAtMs: entry.atMs + entry.pollAfterMs }) };
      break;
    case "call-resolved":
      call.resolved += 1;
      // It never took place: the call stands where it stood before.
      if (entry.effectStatus === "none") call.begun = false;
      if (call.ended !== undefined) call.effectStatus = entry.effectStatus;
      else if (entry.effectStatus === "done" && entry.how === "person") call.settled = entry;
      break;
    case "call-ended":
      call.ended = entry;
      call.effectStatus = entry.effectStatus;
      if (entry.result !== undefined) call.output = entry.result;
      break;
    case "call-late":
      call.effectStatus = entry.effectStatus;
      if (entry.result !== undefined) call.output = entry.result;
      break;
    case "call-reread":
    case "call-intercepted":
    case "delivered":
      break;
  }
}

function finished({ issued, refused, ended, effectStatus, output, begun, resolved, question, edited, held, job, settled }: Gathered, signals: readonly RunSignal[]): RecordedCall {
  const isSettled = ended === undefined && settled !== undefined;
  const said = isSettled ? saidBy(settled, { callId: issued?.callId ?? "", attempt: resolved - 1, output }) : signals.find((signal) => answers(signal, { callId: issued?.callId, question, isJob: job !== undefined, begun, resolved }));
  const past: CallPast = {
    issued: issued !== undefined,
    begun,
    resolved,
    ...(question === undefined ? {} : { question }),
    ...(edited === undefined ? {} : { edited }),
    ...(held === undefined || ended !== undefined ? {} : { held }),
    ...(job === undefined ? {} : { job }),
    ...(said === undefined || said.kind === "event" || said.kind === "answer-refused" ? {} : { said }),
  };
  return { issued, refused, ended, effectStatus: isSettled ? "done" : effectStatus, output, edited, past };
}

function saidBy({ atMs, by = "nobody", signature }: Entry<"call-resolved">, { callId, attempt, output }: { readonly callId: string; readonly attempt: number; readonly output: RecordedValue | undefined }): RunSignal {
  return { kind: "resolution", callId, attempt, happened: true, by, atMs, ...(output === undefined ? {} : { output }), ...(signature === undefined ? {} : { signature }) };
}

interface Open {
  readonly callId: string | undefined;
  readonly question: ApprovalQuestion | undefined;
  readonly isJob: boolean;
  readonly begun: boolean;
  readonly resolved: number;
}

function answers(signal: RunSignal, { callId, question, isJob, begun, resolved }: Open): boolean {
  switch (signal.kind) {
    case "approval":
      return signal.approvalId === question?.approvalId;
    case "job":
      return isJob && signal.callId === callId;
    case "resolution":
      return begun && !isJob && signal.callId === callId && signal.attempt === resolved;
    case "event":
    case "answer-refused":
      return false;
  }
}

/** What people denied in the run: they are not asked again. */
export function refusalsOf(entries: readonly JournalEntry[]): readonly { readonly tool: string; readonly argsDigest: Entry<"call-issued">["args"]["digest"]; readonly reason: string }[] {
  const issued = new Map(entries.flatMap((entry) => (entry.kind === "call-issued" ? [[entry.seq, entry] as const] : [])));
  return entries.flatMap((entry) => {
    // What a plan leaves out is one item of it: an equal one may stand beside it.
    const call = entry.kind === "call-decided" && entry.decision === "deny" && entry.answeredBy !== undefined && entry.ruleId !== "plan:dropped" ? issued.get(entry.seq) : undefined;
    if (call === undefined || entry.kind !== "call-decided") return [];
    return [{ tool: call.tool, argsDigest: call.args.digest, reason: `${entry.answeredBy ?? "nobody"} already refused it in this run: ${entry.reason ?? "No reason was given"}` }];
  });
}

import { encodeValue } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, ApprovalRules, ApprovalSignal, Approver, Clock, Grant, Principal, WireValue } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { digestOf } from "../lib/digest.ts";
import { linkedAbort } from "../lib/linked-abort.ts";
import { race } from "../lib/race.ts";
import { createAnswerJudge } from "./answer-judge.ts";
import type { AnswerJudge } from "./answer-judge.ts";
import { createAskingRate } from "./asking-rate.ts";
import type { CallWord } from "./word-digest.ts";

/** How long a question waits for a person. */
export const defaultApprovalExpiryMs = 7 * 24 * 60 * 60 * 1000;

const MAX_REMEMBERED_DENIALS = 10_000;

/** Exactly what a person is asked about; an approval is good for this and nothing else. */
export type Operation = Omit<ApprovalQuestion, "approvalId" | "expiresAtMs">;

/** What came of a question. */
export type Verdict =
  /** `args`: what is to be performed instead. */
  | { readonly kind: "approved"; readonly approvalId: string; readonly by: string; readonly args?: WireValue }
  /** `refused`: somebody answered whose answer does not count. */
  | { readonly kind: "denied"; readonly approvalId: string; readonly by: string; readonly reason: string; readonly refused?: { readonly by: string; readonly why: string } }
  | { readonly kind: "unavailable"; readonly approvalId: string; readonly help: string }
  | { readonly kind: "cancelled"; readonly approvalId: string }
  /** It is kept; whoever asked goes on when it was answered. */
  | { readonly kind: "pending"; readonly approvalId: string };

export type Redeemed = { readonly kind: "redeemed" } | { readonly kind: "refused"; readonly reason: string };

export type Answer = Extract<ApprovalAnswer, { readonly kind: "approved" | "denied" }>;

/** What a person said: in this process, or as the journal has it. */
export type Said = { readonly kind: "here"; readonly answer: Answer } | { readonly kind: "kept"; readonly signal: ApprovalSignal };

export interface AskOptions {
  readonly signal: AbortSignal;
  /** What a person has said to it. */
  readonly answer?: ApprovalSignal;
  /** Asked in place of the gate's own approver: the client of this request. */
  readonly approver?: Approver;
  /** Where answers are written down, whoever is asked. Absent: nowhere. */
  readonly kept?: KeptAnswers;
}

/** The record of what people said, shared with all who can be asked elsewhere. Neither rejects. */
export interface KeptAnswers {
  /** Writes an answer down and gives the one that counts: the first. One that cannot be written is a denial. */
  keep(question: ApprovalQuestion, answer: Answer): Promise<Said>;
  /** The same for one that is signed. */
  keepSigned(question: ApprovalQuestion, signal: ApprovalSignal): Promise<Said>;
  /** Resolves when somebody has answered it in another place; never after `signal` has aborted. */
  elsewhere(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalSignal>;
}

/**
 * The life of questions to people (DESIGN P3).
 *
 * - A question is bound to one operation, expires, and is asked once. Silence, and an approver that fails, deny.
 * - An approval is redeemed once, with the operation as it is at that moment; any difference refuses it.
 * - What a person denied in a run stays denied in that run, without asking again.
 * - An answer counts where the rules say that its giver may give it: never who asked.
 */
export interface Approvals {
  /** The question about an operation. Nobody is told of it yet: it is written down first. */
  pose(operation: Operation): ApprovalQuestion;
  /** Never rejects. An answer that is there is taken; a question whose time is over is denied. */
  ask(question: ApprovalQuestion, options: AskOptions): Promise<Verdict>;
  redeem(approvalId: string, operation: Operation): Redeemed;
  /** The reason, when a person already refused this tool with these arguments in this run. */
  deniedBefore(operation: Operation): string | undefined;
  /** Why a standing grant lets nothing of this caller through, whatever the call: who gave it, or its signature. */
  grantRefusal(grant: Grant, principal: Principal): string | undefined;
  /** Why what was said of a call, such as the end of its job, does not count. */
  wordRefusal(word: CallWord): string | undefined;
  /** The reason, when this run has asked so much that nobody could read it. */
  tooMany(runId: string): string | undefined;
  /** Takes over what a person denied in an earlier stretch of the run. */
  remember(denied: Pick<Operation, "runId" | "tool" | "argsDigest">, reason: string): void;
}

export interface ApprovalsOptions {
  readonly approver: Approver;
  readonly clock: Clock;
  newId(prefix: string): string;
  readonly rules?: ApprovalRules;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { clock, rules = {} } = options;
  const { expiryMs = defaultApprovalExpiryMs } = rules;
  const judge = createAnswerJudge(rules);
  const rate = createAskingRate({ clock, ...(rules.maxPerMinute === undefined ? {} : { maxPerMinute: rules.maxPerMinute }) });
  const open = new Map<string, ApprovalQuestion>();
  const denials = new LRUCache<string, string>(atMost(MAX_REMEMBERED_DENIALS));

  return {
    pose: (operation) => Object.freeze({ ...operation, approvalId: options.newId("apr"), expiresAtMs: clock.now() + expiryMs }),
    wordRefusal: (word) => judge.wordRefusal(word),
    tooMany: (runId) => rate.refusal(runId),
    grantRefusal: (grant, principal) => judge.grantRefusal(grant) ?? judge.selfRefusal({ principal }, grant.by),
    async ask(question, asking) {
      const { approvalId } = question;
      const verdict = judged(judge, question, await answerTo(question, { approver: options.approver, clock, judge, ...asking }));
      if (verdict.kind === "approved") open.set(approvalId, question);
      // What nobody has said is not a person's word: the next one is asked again.
      if (verdict.kind === "denied" && verdict.refused === undefined) denials.set(denialKey(question), `${verdict.by} already refused it in this run: ${verdict.reason}`);
      return verdict;
    },
    redeem(approvalId, operation) {
      const question = open.get(approvalId);
      // Whatever comes of it, an approval is presented once.
      open.delete(approvalId);
      if (question === undefined) return { kind: "refused", reason: "There is no such approval, or it was used already" };
      if (clock.now() >= question.expiresAtMs) return { kind: "refused", reason: "The approval has expired" };
      const changed = differences(question, operation);
      return changed.length === 0 ? { kind: "redeemed" } : { kind: "refused", reason: `Since it was approved, this has changed: ${changed.join(", ")}` };
    },
    deniedBefore: (operation) => denials.get(denialKey(operation)),
    remember: (denied, reason) => void denials.set(denialKey(denied), reason),
  };
}

interface Asking extends AskOptions {
  readonly approver: Approver;
  readonly clock: Clock;
  readonly judge: AnswerJudge;
}

type Raw = Said | Extract<ApprovalAnswer, { readonly kind: "unavailable" | "pending" }> | { readonly kind: "cancelled" };

async function answerTo(question: ApprovalQuestion, { signal, answer, kept, clock, approver, judge }: Asking): Promise<Raw> {
  if (answer !== undefined) return { kind: "kept", signal: answer };
  const timeoutMs = question.expiresAtMs - clock.now();
  if (timeoutMs <= 0) return here("Nobody answered in time");
  const raced = await race((inner) => firstAnswer(approver, question, { signal: inner.signal, ...(kept === undefined ? {} : { kept }) }), { clock, timeoutMs, signal });
  switch (raced.kind) {
    case "value": {
      if (raced.value.from === "journal") return { kind: "kept", signal: raced.value.signal };
      const { given } = raced.value;
      if (!isAnswer(given)) return here("The approver gave no valid answer");
      if (given.kind === "unavailable" || given.kind === "pending") return given;
      if (given.kind === "signed") return kept === undefined || judge.refusal(question, given.signal) !== undefined ? { kind: "kept", signal: given.signal } : await kept.keepSigned(question, given.signal);
      // One that does not count is not written down as if it did.
      return kept === undefined || judge.selfRefusal(question, given.by) !== undefined ? { kind: "here", answer: given } : await kept.keep(question, given);
    }
    case "threw":
      return here("The approver failed, so the call is refused");
    case "timed_out":
      return here("Nobody answered in time");
    case "cancelled":
      return { kind: "cancelled" };
  }
}

/** Nobody has said anything that counts. */
function here(reason: string): Said {
  return { kind: "here", answer: { kind: "denied", by: "nobody", reason } };
}

/** Holds what was said against the rules. */
function judged(judge: AnswerJudge, question: ApprovalQuestion, raw: Raw): Verdict {
  const { approvalId } = question;
  switch (raw.kind) {
    case "cancelled":
    case "pending":
      return { kind: raw.kind, approvalId };
    case "unavailable":
      return { kind: "unavailable", approvalId, help: raw.help };
    case "kept": {
      const { signal } = raw;
      const why = judge.refusal(question, signal);
      if (why !== undefined) return refused(approvalId, signal.by, why);
      if (!signal.approved) return { kind: "denied", approvalId, by: signal.by, reason: signal.reason ?? "No reason was given" };
      if (signal.args !== undefined && signal.args.clear === undefined) return refused(approvalId, signal.by, "the arguments given with it are not kept any more");
      return { kind: "approved", approvalId, by: signal.by, ...(signal.args?.clear === undefined ? {} : { args: signal.args.clear }) };
    }
    case "here": {
      const { answer } = raw;
      const why = judge.selfRefusal(question, answer.by);
      if (why !== undefined) return refused(approvalId, answer.by, why);
      if (answer.kind === "denied") return { kind: "denied", approvalId, by: answer.by, reason: answer.reason ?? "No reason was given" };
      return { kind: "approved", approvalId, by: answer.by, ...(answer.args === undefined ? {} : { args: encodeValue(answer.args) }) };
    }
  }
}

function refused(approvalId: string, by: string, why: string): Verdict {
  return { kind: "denied", approvalId, by: "nobody", reason: `An answer in the name of ${by} does not count: ${why}`, refused: { by, why } };
}

type First = { readonly from: "journal"; readonly signal: ApprovalSignal } | { readonly from: "approver"; readonly given: unknown };

/** Of the approver, or of whoever answers elsewhere first: then the approver is told to stop asking. */
async function firstAnswer(approver: Approver, question: ApprovalQuestion, { signal, kept }: Pick<AskOptions, "signal" | "kept">): Promise<First> {
  const asking = linkedAbort(signal);
  const given = async (): Promise<First> => ({ from: "approver", given: await approver.ask(question, asking.signal) });
  try {
    if (kept === undefined) return await given();
    return await Promise.race([given(), kept.elsewhere(question, asking.signal).then((said): First => ({ from: "journal", signal: said }))]);
  } finally {
    asking.abort(new DOMException("The question was answered", "AbortError"));
    asking.unlink();
  }
}

function denialKey({ runId, tool, argsDigest }: Pick<Operation, "runId" | "tool" | "argsDigest">): string {
  return `${runId} ${tool} ${argsDigest}`;
}

/** Answers come from code that is not ours: anything but a clear answer is none. */
function isAnswer(value: unknown): value is ApprovalAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { kind, by, help, signal } = value as { kind?: unknown; by?: unknown; help?: unknown; signal?: unknown };
  switch (kind) {
    case "pending":
      return true;
    case "unavailable":
      return typeof help === "string";
    case "signed":
      return typeof signal === "object" && signal !== null && "approved" in signal && typeof signal.approved === "boolean" && "by" in signal && typeof signal.by === "string";
    default:
      return (kind === "approved" || kind === "denied") && typeof by === "string";
  }
}

/** The words of the bound parts that are not equal any more. */
function differences(question: ApprovalQuestion, now: Operation): readonly string[] {
  const parts: readonly (readonly [string, (operation: Operation) => string])[] = [
    ["who asks", ({ principal }) => digestOf(principal)],
    ["the run", ({ runId }) => runId],
    ["the call", ({ callId }) => callId],
    ["the tool", ({ tool }) => tool],
    ["the tool's definition", ({ definitionDigest }) => definitionDigest],
    ["the arguments", ({ argsDigest }) => argsDigest],
    ["the policy", ({ policyVersion }) => policyVersion],
  ];
  return parts.filter(([, part]) => part(question) !== part(now)).map(([words]) => words);
}

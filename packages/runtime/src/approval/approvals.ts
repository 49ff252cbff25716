import type { ApprovalAnswer, ApprovalQuestion, Approver, Clock, RunSignal } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { digestOf } from "../lib/digest.ts";
import { linkedAbort } from "../lib/linked-abort.ts";
import { race } from "../lib/race.ts";

/** How long a question waits for a person. */
const defaultApprovalExpiryMs = 7 * 24 * 60 * 60 * 1000;

const MAX_REMEMBERED_DENIALS = 10_000;

/** Exactly what a person is asked about; an approval is good for this and nothing else. */
export type Operation = Omit<ApprovalQuestion, "approvalId" | "expiresAtMs">;

/** What came of a question. */
export type Verdict =
  | { readonly kind: "approved"; readonly approvalId: string; readonly by: string }
  | { readonly kind: "denied"; readonly approvalId: string; readonly by: string; readonly reason: string }
  | { readonly kind: "unavailable"; readonly approvalId: string; readonly help: string }
  | { readonly kind: "cancelled"; readonly approvalId: string }
  /** It is kept; whoever asked goes on when it was answered. */
  | { readonly kind: "pending"; readonly approvalId: string };

export type Redeemed = { readonly kind: "redeemed" } | { readonly kind: "refused"; readonly reason: string };

type Answer = Extract<ApprovalAnswer, { readonly kind: "approved" | "denied" }>;

export interface AskOptions {
  readonly signal: AbortSignal;
  /** What a person has said to it. */
  readonly answer?: Extract<RunSignal, { kind: "approval" }>;
  /** Where answers are written down, whoever is asked. Absent: nowhere. */
  readonly kept?: KeptAnswers;
}

/** The record of what people said, shared with all who can be asked elsewhere. Neither rejects. */
export interface KeptAnswers {
  /** Writes an answer down and gives the one that counts: the first. One that cannot be written is a denial. */
  keep(question: ApprovalQuestion, answer: Answer): Promise<Answer>;
  /** Resolves when somebody has answered it in another place; never after `signal` has aborted. */
  elsewhere(question: ApprovalQuestion, signal: AbortSignal): Promise<Answer>;
}

/** What a person said, as it is kept. */
export function answerOf({ approved, by, reason }: Extract<RunSignal, { kind: "approval" }>): Answer {
  return approved ? { kind: "approved", by } : { kind: "denied", by, ...(reason === undefined ? {} : { reason }) };
}

/**
 * The life of questions to people (DESIGN P3).
 *
 * - A question is bound to one operation, expires, and is asked once. Silence, and an approver that fails, deny.
 * - An approval is redeemed once, with the operation as it is at that moment; any difference refuses it.
 * - What a person denied in a run stays denied in that run, without asking again.
 */
export interface Approvals {
  /** The question about an operation. Nobody is told of it yet: it is written down first. */
  pose(operation: Operation): ApprovalQuestion;
  /** Never rejects. An answer that is there is taken; a question whose time is over is denied. */
  ask(question: ApprovalQuestion, options: AskOptions): Promise<Verdict>;
  redeem(approvalId: string, operation: Operation): Redeemed;
  /** The reason, when a person already refused this tool with these arguments in this run. */
  deniedBefore(operation: Operation): string | undefined;
  /** Takes over what a person denied in an earlier stretch of the run. */
  remember(denied: Pick<Operation, "runId" | "tool" | "argsDigest">, reason: string): void;
}

export interface ApprovalsOptions {
  readonly approver: Approver;
  readonly clock: Clock;
  newId(prefix: string): string;
  /** Default seven days. */
  readonly expiryMs?: number;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { approver, clock, expiryMs = defaultApprovalExpiryMs } = options;
  const open = new Map<string, ApprovalQuestion>();
  const denials = new LRUCache<string, string>({ max: MAX_REMEMBERED_DENIALS });

  async function answerTo(question: ApprovalQuestion, { signal, answer, kept }: AskOptions): Promise<ApprovalAnswer | "cancelled"> {
    if (answer !== undefined) return answerOf(answer);
    const timeoutMs = question.expiresAtMs - clock.now();
    if (timeoutMs <= 0) return tooLate;
    const raced = await race((inner) => firstAnswer(approver, question, { signal: inner.signal, ...(kept === undefined ? {} : { kept }) }), { clock, timeoutMs, signal });
    switch (raced.kind) {
      case "value":
        if (isAnswer(raced.value)) return kept !== undefined && (raced.value.kind === "approved" || raced.value.kind === "denied") ? await kept.keep(question, raced.value) : raced.value;
        return { kind: "denied", by: "nobody", reason: "The approver gave no valid answer" };
      case "threw":
        return { kind: "denied", by: "nobody", reason: "The approver failed, so the call is refused" };
      case "timed_out":
        return tooLate;
      case "cancelled":
        return "cancelled";
    }
  }

  return {
    pose: (operation) => Object.freeze({ ...operation, approvalId: options.newId("apr"), expiresAtMs: clock.now() + expiryMs }),
    async ask(question, asking) {
      const { approvalId } = question;
      const answer = await answerTo(question, asking);
      if (answer === "cancelled") return { kind: "cancelled", approvalId };
      switch (answer.kind) {
        case "approved":
          open.set(approvalId, question);
          return { kind: "approved", approvalId, by: answer.by };
        case "denied": {
          const reason = answer.reason ?? "No reason was given";
          denials.set(denialKey(question), `${answer.by} already refused it in this run: ${reason}`);
          return { kind: "denied", approvalId, by: answer.by, reason };
        }
        case "unavailable":
          return { kind: "unavailable", approvalId, help: answer.help };
        case "pending":
          return { kind: "pending", approvalId };
      }
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

/** Of the approver, or of whoever answers elsewhere first: then the approver is told to stop asking. */
async function firstAnswer(approver: Approver, question: ApprovalQuestion, { signal, kept }: Pick<AskOptions, "signal" | "kept">): Promise<unknown> {
  if (kept === undefined) return await approver.ask(question, signal);
  const asking = linkedAbort(signal);
  try {
    return await Promise.race([approver.ask(question, asking.signal), kept.elsewhere(question, asking.signal)]);
  } finally {
    asking.abort(new DOMException("The question was answered", "AbortError"));
    asking.unlink();
  }
}

const tooLate: ApprovalAnswer = { kind: "denied", by: "nobody", reason: "Nobody answered in time" };

function denialKey({ runId, tool, argsDigest }: Pick<Operation, "runId" | "tool" | "argsDigest">): string {
  return `${runId} ${tool} ${argsDigest}`;
}

/** Answers come from code that is not ours: anything but a clear answer is none. */
function isAnswer(value: unknown): value is ApprovalAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { kind, by, help } = value as { kind?: unknown; by?: unknown; help?: unknown };
  if (kind === "pending") return true;
  return kind === "unavailable" ? typeof help === "string" : (kind === "approved" || kind === "denied") && typeof by === "string";
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

import { randomInt } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { AnswerSigner, ApprovalAnswer, ApprovalQuestion, Approver, ShownApproval } from "@callgate/contract";
import { signAnswer } from "@callgate/runtime/broker";
import { askPassphrase } from "./ask-passphrase.ts";
import { passOnInterrupts } from "./ask-yes-no.ts";
import { renderQuestion } from "./render-question.ts";
import type { Terminal } from "./terminal.ts";

/** Short, distinct, easy to type. */
const words = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "harbor", "ivory", "jade", "kelp", "lotus", "maple", "north", "olive", "pearl", "quartz", "river", "stone", "tulip"];

export interface TtyApproverOptions {
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  readonly user: string;
  readonly now: () => number;
  /** Picks the word to type. */
  readonly pick?: (count: number) => number;
  /** Everything that is asked about, from the record. */
  readonly show?: (approvalId: string) => Promise<ShownApproval | undefined>;
  /** The key that answers need here. Absent, or gives undefined: none is set. */
  readonly credential?: () => Promise<LockedKey | undefined>;
  readonly pause?: () => void;
  readonly resume?: () => void;
}

/** A key that opens with the passphrase of whose it is. */
export interface LockedKey {
  readonly by: string;
  unlock(passphrase: string): Promise<AnswerSigner | undefined>;
}

/**
 * Asks the person at the terminal. The answer is a word drawn for this question: input typed ahead, pasted or piped
 * cannot give it. Where a key is set, its passphrase is asked for first, once for each process: another program can type
 * into a terminal, too. Everything shown comes from the operation; control characters are made visible. One at a time.
 */
export function createTtyApprover(options: TtyApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve();
  let signer: AnswerSigner | undefined;
  return {
    ask(question, signal) {
      const answer = last.then(async () => {
        const locked = signer === undefined ? await options.credential?.() : undefined;
        if (locked === undefined) return await askOne(question, signal, { ...options, ...(signer === undefined ? {} : { signer }) });
        const unlocked = await unlockFor(locked, question, { ...options, signal });
        if (typeof unlocked === "string") return { kind: "denied" as const, by: "terminal", reason: unlocked };
        signer = unlocked;
        return signedAnswer(question, { kind: "approved", by: unlocked.by }, { now: options.now, signer: unlocked });
      });
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

/** The passphrase itself is the answer: nothing else allows the first question. The reason, where it is not given. */
async function unlockFor(locked: LockedKey, question: ApprovalQuestion, options: TtyApproverOptions & { readonly signal: AbortSignal }): Promise<AnswerSigner | string> {
  const { terminal, input, signal } = options;
  options.pause?.();
  try {
    await showTo(question, options);
    drain(input);
    const passphrase = await askPassphrase(`  The passphrase of ${locked.by} allows this; Enter denies it`, { terminal, signal, input });
    if (passphrase === "") return "no passphrase was given";
    return (await locked.unlock(passphrase)) ?? `that is not the passphrase of ${locked.by}`;
  } finally {
    options.resume?.();
  }
}

async function showTo(question: ApprovalQuestion, { terminal, show }: TtyApproverOptions): Promise<void> {
  const shown = await show?.(question.approvalId).catch(() => undefined); // The summary serves.
  terminal.err(`\n${renderQuestion({ question, ...(shown === undefined ? {} : { shown }) }, terminal)}`);
}

async function askOne(question: ApprovalQuestion, signal: AbortSignal, options: TtyApproverOptions & { readonly signer?: AnswerSigner }): Promise<ApprovalAnswer> {
  const { terminal, input, signer } = options;
  const { colors } = terminal;
  const by = signer?.by ?? options.user;
  const given = (answer: Said): ApprovalAnswer => (signer === undefined ? answer : signedAnswer(question, answer, { now: options.now, signer }));
  const word = words[(options.pick ?? ((count) => randomInt(count)))(words.length)] ?? "amber";
  options.pause?.();
  await showTo(question, options);
  terminal.err(`  Type ${colors.bold(word)} to ${question.isResult === true ? "hand this one result on" : `allow this one ${question.isReview === true ? "run; calls that ask will ask as always" : "call"}`}. Anything else denies it.\n`);
  drain(input);
  const reader = createInterface({ input, output: process.stderr, terminal: true });
  passOnInterrupts(reader);
  const expiry = AbortSignal.timeout(Math.max(0, Math.min(question.expiresAtMs - options.now(), 0x7fff_ffff)));
  try {
    const typed = await reader.question("> ", { signal: AbortSignal.any([signal, expiry]) });
    return typed.trim().toLowerCase() === word ? given({ kind: "approved", by }) : given({ kind: "denied", by });
  } catch (fault) {
    if (signal.aborted) throw fault;
    return given({ kind: "denied", by, reason: expiry.aborted ? "no answer in time" : "the input of the terminal ended" });
  } finally {
    reader.close();
    options.resume?.();
  }
}

type Said = Extract<ApprovalAnswer, { kind: "approved" | "denied" }>;

function signedAnswer(question: ApprovalQuestion, answer: Said, { now, signer }: { readonly now: () => number; readonly signer: AnswerSigner }): ApprovalAnswer {
  const reason = answer.kind === "denied" && answer.reason !== undefined ? { reason: answer.reason } : {};
  return { kind: "signed", signal: signAnswer(question, { approved: answer.kind === "approved", ...reason, atMs: now() }, signer) };
}

/** Throws away what was typed before the question was there. */
function drain(input: NodeJS.ReadStream): void {
  input.resume();
  while (input.read() !== null);
}

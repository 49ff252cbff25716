import type { AnswerSignature, ApprovalQuestion, ApprovalRules, ApprovalSignal, Digest, Grant, Principal } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { answerDigest } from "./answer-digest.ts";
import { wordDigest } from "./word-digest.ts";
import type { CallWord } from "./word-digest.ts";
import { grantDigest } from "../lib/grant-digest.ts";

/** Says whether an answer counts, wherever it came from. */
export interface AnswerJudge {
  /** Why an answer found in the journal does not count. Undefined: it does. */
  refusal(question: ApprovalQuestion, answer: ApprovalSignal): string | undefined;
  /** Why this person may not answer. Undefined: they may. */
  selfRefusal(question: Pick<ApprovalQuestion, "principal">, by: string): string | undefined;
  /** Why a grant found in the journal covers nothing, whatever the call. Undefined: it does. */
  grantRefusal(grant: Grant): string | undefined;
  /** Why what was said of a call does not count. Undefined: it does. That a job is cancelled needs no signature: who may end the run may do that. */
  wordRefusal(word: CallWord): string | undefined;
  /** Answers count with a signature only. */
  readonly needsSignature: boolean;
}

const wrongSignature = "its signature is not valid for what it says";

/** Whose answers count (docs/decisions/0031-who-may-answer.md). Judged where an answer is used: in the process of the gate. */
export function createAnswerJudge({ keys = [], webhook, fourEyes = false, unsafeSelfApproval = false }: ApprovalRules): AnswerJudge {
  const byId = new Map(keys.map((key) => [key.keyId, key]));
  const needsSignature = byId.size > 0 || webhook !== undefined;

  function signatureRefusal(by: string, signature: AnswerSignature | undefined, digest: () => Digest): string | undefined {
    if (!needsSignature) return undefined;
    if (signature === undefined) return "it is not signed, and this gate takes signed answers only";
    const key = byId.get(signature.keyId);
    if (key === undefined) return "it is signed with a key that this gate does not know";
    if (key.by !== by) return `it is signed with the key of ${key.by}`;
    return key.verify(digest(), signature) ? undefined : wrongSignature;
  }

  function selfRefusal({ principal }: Pick<ApprovalQuestion, "principal">, by: string): string | undefined {
    if (unsafeSelfApproval) return undefined;
    const who = sameName(by);
    const asked = requestersOf(principal, fourEyes).find((name) => sameName(name) === who);
    return asked === undefined ? undefined : `${asked} asked for it, and nobody answers their own question`;
  }

  return {
    needsSignature,
    selfRefusal,
    grantRefusal: (grant) => signatureRefusal(grant.by, grant.signature, () => grantDigest(grant)),
    wordRefusal(word) {
      const value = word.kind === "resolution" ? word.output : word.result.kind === "value" ? word.result.value : undefined;
      if (word.kind === "job" && word.result.kind === "error" && word.result.error.code === "CANCELLED") return undefined;
      if (value?.clear !== undefined && digestOfWire(value.clear) !== value.digest) return "its value is not the one it was said with";
      return signatureRefusal(word.by, word.signature, () => wordDigest(word));
    },
    refusal(question, answer) {
      if (answer.approvalId !== question.approvalId) return "it answers another question";
      const { args } = answer;
      if (args?.clear !== undefined && digestOfWire(args.clear) !== args.digest) return "its arguments are not those it was given with";
      const { signature, ...said } = answer;
      const digest = (): Digest => answerDigest(question, said);
      // A service names who answered; its secret signs for anybody, but answers only.
      const isByWebhook = webhook !== undefined && signature?.keyId === webhook.keyId;
      const unproven = isByWebhook ? (webhook.verify(digest(), signature) ? undefined : wrongSignature) : signatureRefusal(answer.by, signature, digest);
      return unproven ?? selfRefusal(question, answer.by);
    },
  };
}

/** Who acts is who asks: the agent, and where none is named the user. With four eyes the user as well. */
function requestersOf({ user, agent }: Principal, fourEyes: boolean): readonly string[] {
  if (agent === undefined) return [user];
  return fourEyes ? [agent, user] : [agent];
}

/** A name in other letters is the same person. */
function sameName(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

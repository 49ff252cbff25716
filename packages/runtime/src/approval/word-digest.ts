import type { AnswerSigner, Digest, RunSignal } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

/** What somebody says of a call from outside: how its background job ended, or what became of a write in doubt. */
export type CallWord = Extract<RunSignal, { readonly kind: "job" | "resolution" }>;

/** A word that nobody has signed yet; it is said in the name of whoever signs it. */
export type UnsignedWord = CallWord extends infer Word ? (Word extends CallWord ? Omit<Word, "by" | "signature"> : never) : never;

/** What is signed of a word: all of it. The id of a call names its run, so it is good for one call, and a resolution for one doubt. */
export function wordDigest(word: CallWord): Digest {
  const { kind, callId, by, atMs } = word;
  return digestOf({ form: "callgate-word-1", kind, callId, by, atMs, ...said(word) });
}

/** A word with the signature of who says it. */
export function signWord(word: UnsignedWord, signer: AnswerSigner): CallWord {
  const named = { ...word, by: signer.by };
  return { ...named, signature: signer.sign(wordDigest(named)) };
}

function said(word: CallWord): Readonly<Record<string, string | number | boolean | null>> {
  if (word.kind === "resolution") return { attempt: word.attempt, happened: word.happened, output: word.output?.digest ?? null };
  return word.result.kind === "value" ? { value: word.result.value.digest } : { code: word.result.error.code, message: word.result.error.message };
}

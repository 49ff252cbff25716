import type { AnswerSigner, Grant } from "@callgate/contract";
import { grantDigest } from "../lib/grant-digest.ts";

/** A grant with the signature of who gives it. */
export function signGrant(grant: Omit<Grant, "by" | "signature">, signer: AnswerSigner): Grant {
  const given: Grant = { ...grant, by: signer.by };
  return { ...given, signature: signer.sign(grantDigest(given)) };
}

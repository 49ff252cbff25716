import type { Digest, Grant } from "@callgate/contract";
import { digestOf } from "./digest.ts";

/** What is signed of a grant: all of it. */
export function grantDigest({ signature: _signature, ...grant }: Grant): Digest {
  return digestOf({ form: "callgate-grant-1", grant });
}

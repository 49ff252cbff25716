import { createHash } from "node:crypto";

/** Crockford's base 32, lower case: no letter looks like a digit. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Gives so many random bytes, fit for keys. */
export type RandomBytes = (length: number) => Uint8Array;

const poolBytes = 4_096;

/** Asks the source for many bytes at once: of the operating system's, one call costs as much for 16 bytes as for 4,096. No byte is given twice. */
export function pooledRandom(source: RandomBytes): RandomBytes {
  let pool = new Uint8Array(0);
  let used = 0;
  return (length) => {
    if (length > poolBytes) return source(length);
    if (used + length > pool.length) {
      pool = Uint8Array.from(source(poolBytes));
      used = 0;
    }
    const bytes = pool.slice(used, used + length);
    pool.fill(0, used, used + length);
    used += length;
    return bytes;
  };
}

/** An id with 130 bits of randomness: `apr_` and 26 characters. */
export function newId(prefix: string, random: RandomBytes): string {
  return `${prefix}_${randomDigits(26, random)}`;
}

/** An id whose order is that of the time: 9 characters of milliseconds, then 75 bits of randomness. */
export function newRunId(nowMs: number, random: RandomBytes): string {
  let time = "";
  for (let left = Math.max(0, Math.floor(nowMs)), place = 0; place < 9; place++, left = Math.floor(left / 32)) time = digits.charAt(left % 32) + time;
  return `run_${time}${randomDigits(15, random)}`;
}

/**
 * The id of the nth run on behalf of a call, from 0: whoever knows the call finds its runs, without a list of all. Its time
 * is that of the call's own run.
 */
export function nestedRunId({ runId, callId }: { readonly runId: string; readonly callId: string }, nth: number): string {
  const time = /^run_([0-9a-z]{9})/.exec(runId)?.[1] ?? "000000000";
  return `run_${time}${randomDigits(15, () => createHash("sha256").update(JSON.stringify([callId, nth])).digest().subarray(0, 15))}`;
}

function randomDigits(count: number, random: RandomBytes): string {
  let text = "";
  for (const byte of random(count)) text += digits.charAt(byte % 32);
  return text;
}

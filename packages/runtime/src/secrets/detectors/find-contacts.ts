import type { Finder } from "./found.ts";
import { isEmail, phoneParser } from "./libraries.ts";

/** Bounded on both sides of the @, so that a long text of such characters costs no more than its length. */
const emailCandidate = /(?<![\w.%+-])[\p{L}\p{N}_.%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;

export const findEmails: Finder = (text) => {
  if (!text.includes("@")) return [];
  return [...text.matchAll(emailCandidate)].flatMap(({ 0: value, index }) => {
    const trimmed = value.replace(/^['.-]+|['-]+$/g, "");
    const start = index + value.indexOf(trimmed);
    return !isInUrl(text, start) && isEmail()(trimmed) ? [{ kind: "email" as const, start, end: start + trimmed.length, value: trimmed }] : [];
  });
};

/** `user:password@host` of a URL looks like one. */
function isInUrl(text: string, at: number): boolean {
  return /:\/\/[^\s/@]*$/.test(text.slice(Math.max(0, at - 128), at));
}

/**
 * International form only: without `+` and the country's digits, a number of a telephone is told from that of an order by
 * guessing.
 */
const phoneCandidate = /(?<![\w+.])\+[1-9](?:[ ()./\u00a0\u2010-\u2013-]{0,2}\d){6,14}(?![\d.]\d|\d|:\d)/g;

export const findPhones: Finder = (text) => {
  if (!text.includes("+")) return [];
  return [...text.matchAll(phoneCandidate)].flatMap(({ 0: written, index }) => {
    const found = longestNumber(written);
    return found === undefined ? [] : [{ kind: "phone" as const, start: index, end: index + found.written.length, value: found.e164 }];
  });
};

/** Other numbers may follow one: they are left off, one after the other. */
function longestNumber(candidate: string): { readonly written: string; readonly e164: string } | undefined {
  for (let written = candidate; written.length >= 7; written = written.slice(0, Math.max(0, written.search(/[^\d+]\d*$/))).trimEnd()) {
    const parsed = phoneParser()(`+${written.replace(/\D/g, "")}`);
    if (parsed.valid) return { written, e164: parsed.number.e164 };
  }
  return undefined;
}

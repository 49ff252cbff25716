import type { Finder, Found } from "./found.ts";
import { isCreditCard, isIban } from "./libraries.ts";

/**
 * 14 to 19 digits, together or in the groups that are printed on cards, with nothing else of a word beside them: no part
 * of a UUID, a decimal or a longer id. Cards of 13 digits are not made any more, and article numbers (EAN) are so long.
 */
const cardCandidate = /(?<![\w.:-]|\d )(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|[.:]\d| \d)/g;

/** Also behind a word and a colon, as in `card:4111…`, but not in a time or a hash. */
const labelled = /(?<![0-9]|hash):\d{14,19}(?![\w-]|[.:]\d)/g;

/** Payment cards: an issuer's digits and a right check digit (Luhn). */
export const findCards: Finder = (text) => {
  const found: Found[] = [];
  const add = (written: string, start: number): void => {
    const value = written.replace(/\D/g, "");
    if (isCreditCard()(value)) found.push({ kind: "card", start, end: start + written.length, value });
  };
  for (const { 0: written, index } of text.matchAll(cardCandidate)) add(written, index);
  for (const { 0: written, index } of text.matchAll(labelled)) add(written.slice(1), index + 1);
  return found;
};

const ibanCandidate = /(?<![\w-])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?![\w-])/g;

/** Accounts whose country has IBANs of that form, with right check digits (ISO 7064, mod 97-10). */
export const findIbans: Finder = (text) =>
  [...text.matchAll(ibanCandidate)].flatMap(({ 0: written, index }) => {
    const account = longestAccount(written);
    return account === undefined ? [] : [{ kind: "iban" as const, start: index, end: index + account.length, value: account.replace(/[ -]/g, "") }];
  });

/** Words in capitals may follow one: they are left off, one after the other. */
function longestAccount(written: string): string | undefined {
  for (let left = written; left.length >= 15; left = left.slice(0, Math.max(left.lastIndexOf(" "), left.lastIndexOf("-"), 0))) {
    if (isIban()(left.replace(/[ -]/g, ""))) return left;
  }
  return undefined;
}

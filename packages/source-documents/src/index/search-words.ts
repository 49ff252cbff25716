const maxWords = 64;
/** Scripts that put no space between words: each character is a word there, and what stands together in a query a phrase. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** A text as the index is given it. */
export function spacedText(text: string): string {
  return text.replaceAll(unspaced, " $& ");
}

/** A query as FTS5 is given it: each of its words quoted, any of them. Undefined where there is no word. */
export function matchExpression(query: string): string | undefined {
  const words = new Set(query.toWellFormed().match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu));
  const some = [...words].slice(0, maxWords).map((word) => `"${spacedText(word).trim()}"`);
  return some.length === 0 ? undefined : some.join(" OR ");
}

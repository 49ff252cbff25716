const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", "#39": "'", "#34": '"' };

/**
 * A description as a model reads it: without HTML tags, entities as characters, no more than one empty line in a row, and
 * at most `maxChars` characters, cut at the end of a word.
 */
export function plainText(text: string, maxChars: number): string {
  // What is cut away anyway need not be cleaned: descriptions of 100 KB are real.
  const plain = text
    .slice(0, maxChars * 8)
    .replace(/<!--[\s\S]*?-->/g, " ")
    .replace(/<\/?[a-zA-Z][^<>]{0,500}>/g, " ")
    .replace(/&(#?\w{1,8});/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
    .toWellFormed();
  if (plain.length <= maxChars) return plain;
  const cut = plain.slice(0, maxChars - 1);
  const end = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  return `${(end > maxChars / 2 ? cut.slice(0, end) : cut).toWellFormed().trimEnd()}…`;
}

/** The same in one line. */
export function plainLine(text: string, maxChars: number): string {
  return plainText(text.slice(0, maxChars * 8).replace(/\s+/g, " "), maxChars);
}

import type { JsonObject } from "@callgate/contract";

/** Words that carry no meaning of their own, in the languages most prose comes in. */
const stopWords = new Set(
  `a about above after again all also an and any are as at be because been before being between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its just may me might more most must my no nor not of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up upon us very was we were what when where which while who whom why will with would you your yet shall ein eine einer eines der die das den dem des und oder nicht ist sind war mit von zu im auf für als auch es sie er wir ihr le la les un une des et ou est dans pour que qui sur par avec el los las una y o en de que con por para se`.split(
    /\s+/,
  ),
);

/** Only this much of a text is read for its words: the rest seldom changes them, and the time is bounded. */
const maxReadChars = 500_000;

export interface TextDetail {
  /** Characters of the opening, or of each lead passage. */
  readonly chars: number;
  /** Keywords and headings at most. */
  readonly words: number;
}

/** A long string, read once. */
export interface ReadText {
  /** Prose: its headings, keywords and how its parts open. Anything else (logs, code, data as text): size, start and end. */
  show(detail: TextDetail): JsonObject;
}

export function readText(text: string): ReadText {
  const lines = countLines(text);
  const size = { type: "string", chars: text.length, ...(lines > 1 ? { lines } : {}) };
  const read = text.slice(0, maxReadChars);
  if (!isProse(read)) return { show: ({ chars }) => ({ ...size, ...endsOf(text, chars) }) };
  const headings = headingsOf(read);
  const keywords = keywordsOf(read, 20);
  return {
    show(detail) {
      const shown = { headings: headings.slice(0, detail.words), keywords: keywords.slice(0, detail.words) };
      return { ...size, ...(shown.headings.length === 0 ? {} : { headings: shown.headings }), ...(shown.keywords.length === 0 ? {} : { keywords: shown.keywords }), passages: leadPassages(read, detail) };
    },
  };
}

function endsOf(text: string, chars: number): JsonObject {
  const tailChars = Math.floor(chars / 4);
  return { head: text.slice(0, chars - tailChars).toWellFormed(), ...(tailChars < 10 ? {} : { tail: text.slice(-tailChars).toWellFormed() }) };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Sentences of words: mostly letters and blanks, and words of a normal length. */
function isProse(text: string): boolean {
  const sample = text.slice(0, 4_000);
  if (sample.length < 200) return false;
  const letters = sample.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  const words = sample.match(/[\p{L}\p{M}'’-]+/gu)?.length ?? 0;
  const braces = sample.match(/[{}[\]<>=;|\\]/g)?.length ?? 0;
  return letters / sample.length > 0.6 && braces / sample.length < 0.02 && words >= 20 && letters / words < 20;
}

/** Lines marked as headings: `# Title`, underlined, numbered `2.1 Title`, or short and in capitals. */
function headingsOf(text: string): string[] {
  const lines = text.split("\n", 20_000);
  const headings: string[] = [];
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line.length < 2 || line.length > 120) continue;
    const marked = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1];
    const numbered = /^\d+(?:\.\d+)*\.?\s+\p{Lu}[^.!?]*$/u.test(line);
    const underlined = /^(?:={3,}|-{3,})$/.test(lines[index + 1]?.trim() ?? "") && /\p{L}/u.test(line);
    const capitals = line.length >= 4 && /^[\p{Lu}\p{N}\s:&-]+$/u.test(line) && /\p{Lu}{3}/u.test(line);
    if (marked !== undefined) headings.push(marked);
    else if (numbered || underlined || capitals) headings.push(line);
  }
  return headings;
}

/** Most frequent words that mean something, best first. */
function keywordsOf(text: string, limit: number): string[] {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{M}'’-]{2,30}/gu)) {
    if (!stopWords.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const ranked = [...counts].filter(([, count]) => count > 1).sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return ranked.slice(0, limit).map(([word]) => word);
}

/** How the first parts of the text open. */
function leadPassages(text: string, { chars, words }: TextDetail): string[] {
  const parts = text.split(/\n\s*\n|\n(?=#)/, 200).map((part) => part.replace(/\s+/g, " ").trim()).filter((part) => part.length >= 40 && !part.startsWith("#"));
  const shown = parts.length === 0 ? [text.replace(/\s+/g, " ").trim()] : parts.slice(0, Math.max(1, Math.floor(words / 4)));
  return shown.map((part) => (part.length <= chars ? part : `${part.slice(0, chars).toWellFormed()}…`));
}

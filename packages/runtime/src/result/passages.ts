import MiniSearch from "minisearch";

/** A part of a prose, and where it begins. */
export interface Passage {
  readonly offset: number;
  readonly text: string;
  readonly score: number;
}

const passageChars = 700;
/** About 1 s of the host's time. */
const maxChars = 5_000_000;

/** The passages that answer the query best, best first (BM25 over paragraphs; close spellings count a little). */
export function rankPassages(text: string, query: string, limit: number): Passage[] {
  const passages = splitPassages(text.slice(0, maxChars));
  const index = new MiniSearch<{ readonly id: number; readonly text: string }>({ fields: ["text"], searchOptions: { fuzzy: (term) => (term.length > 4 ? 0.2 : false), prefix: (term) => term.length > 3 } });
  index.addAll(passages.map(({ text: part }, id) => ({ id, text: part })));
  return index
    .search(query.slice(0, 1_000))
    .slice(0, limit)
    .flatMap(({ id, score }) => {
      const passage = passages[id as number];
      return passage === undefined ? [] : [{ ...passage, score: Math.round(score * 100) / 100 }];
    });
}

/** Paragraphs, short ones joined to about 700 characters and long ones cut at a line or sentence. */
function splitPassages(text: string): { readonly offset: number; readonly text: string }[] {
  const passages: { offset: number; text: string }[] = [];
  let start = 0;
  while (start < text.length) {
    const end = start + passageChars >= text.length ? text.length : breakBefore(text, start);
    const part = text.slice(start, end);
    if (part.trim() !== "") passages.push({ offset: start, text: part.trim() });
    start = end;
  }
  return passages;
}

function breakBefore(text: string, start: number): number {
  const window = text.slice(start, start + passageChars);
  const least = passageChars / 3;
  for (const mark of ["\n\n", "\n", ". ", " "]) {
    const at = window.lastIndexOf(mark);
    if (at >= least) return start + at + mark.length;
  }
  return start + passageChars;
}

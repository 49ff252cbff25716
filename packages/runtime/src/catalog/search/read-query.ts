import { words } from "./words.ts";

/** A query as it is looked for. */
export interface ReadQuery {
  readonly words: ReadonlySet<string>;
  /** It names a thing of the world, by a capital inside a sentence or in quotes. */
  readonly namesSomething: boolean;
  /** The steps of a longer task, each with two words or more. Empty where it is one. */
  readonly steps: readonly ReadonlySet<string>[];
}

/** What of a query is looked at: programs and clients write queries. */
const maxQueryChars = 1_000;
const maxSteps = 8;

/** Folders of a path are an argument's words, not the task's; the name of the file may say what it is. */
const folders = /(^|\s)[~.]?(?:\/[\w.-]+)+\/(?=[\w.-]*)/g;
const capitalInside = /(?<=[\p{Ll},'’]\s)\p{Lu}\p{L}+/u;
const quoted = /(?<!\p{L})["“‘'][^"”’']{2,}["”’']/u;
const betweenSteps = /[.;!?,:\n]+\s|\b(?:and|then|also)\b/i;

export function readQuery(query: string): ReadQuery {
  const text = query.slice(0, maxQueryChars).replace(folders, "$1");
  const steps = text.split(betweenSteps).map((part) => new Set(words(part))).filter(({ size }) => size >= 2);
  return {
    words: new Set(words(text)),
    namesSomething: capitalInside.test(text) || quoted.test(text),
    steps: steps.length < 2 ? [] : steps.slice(0, maxSteps),
  };
}

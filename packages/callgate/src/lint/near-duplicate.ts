import { inputFields } from "./input-fields.ts";
import type { LintedTool, LintMatch } from "./lint-rule.ts";

/** Share of words in common from which two descriptions count as one. */
const minShared = 0.9;
/** The same for their first sentences. */
const minSharedFirst = 0.75;
/** Fewer say too little to be compared. */
const minWords = 4;
/** Tools of one set of parameters that are compared with each; the time for all grows with its square. */
const maxCompared = 200;

/** Tools that take the same arguments as another and are described in nearly the same words. */
export function nearDuplicates(tools: readonly LintedTool[]): readonly LintMatch[] {
  return [...Map.groupBy(tools, parametersOf).values()].flatMap((alike) => {
    const compared = alike.slice(0, maxCompared).map((tool) => ({ tool, words: wordsOf(tool.view.spec.description), first: wordsOf(tool.view.line) })).filter(({ words }) => words.size >= minWords);
    return compared.flatMap(({ tool, words, first }) => {
      // What differs may be in the first sentence alone, before pages that all tools of a server have.
      const found = compared.find((other) => other.tool !== tool && sharedOf(words, other.words) >= minShared && sharedOf(first, other.first) >= minSharedFirst);
      return found === undefined ? [] : [{ tool, message: `nearly the same as ${found.tool.view.name}` }];
    });
  });
}

function parametersOf({ view }: LintedTool): string {
  return inputFields(view.spec.input)
    .map(({ name }) => name)
    .sort()
    .join(",");
}

/** Of the first 60 words: tools that are the same say so at once. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1).slice(0, 60));
}

function sharedOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 1;
  const common = [...a].filter((word) => b.has(word)).length;
  return common / (a.size + b.size - common);
}

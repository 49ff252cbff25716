// From text to words, the same for tools and for queries.

/** Words that say nothing about what a tool does: articles, pronouns, prepositions, auxiliaries, question words. */
const functionWords: ReadonlySet<string> = new Set(
  (
    "a about above after again all also am among an and any anyone anything are as at be because been before being below between both but by can could " +
    "did do does doing down during each either else every everyone everything few for from further had has have having he her here hers him his how however " +
    "i if in into is it its itself just let me might mine more most must my myself neither no nor not of off on once one only onto or other our ours out over " +
    "own please same shall she should so some such than that the their theirs them then there these they this those through to too under until up upon us " +
    "very was we were what when where whether which while who whom whose why will with within without would yes you your yours"
  ).split(" "),
);

/**
 * Words of a text without its links: split at everything that is no letter or digit and at `camelCase` humps, lower case, English plurals
 * made singular, function words left out. Scripts without spaces give pairs of characters. Linear: a link's target ends at
 * the next parenthesis of either kind, or a text of nothing but openings would be read from each of them to its end.
 */
export function words(text: string): string[] {
  const plain = (isAscii.test(text) ? text : text.normalize("NFKC")).replace(links, " ").replace(clitics, " ");
  const found: string[] = [];
  for (const run of plain.match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (lowerAscii.test(run)) addRun(found, run);
    else for (const part of splitHumps(run).toLowerCase().split(" ")) addRun(found, part);
  }
  return found;
}

const isAscii = /^[\0-\x7f]*$/;
const lowerAscii = /^[a-z]+$/;
const links = /https?:\/\/\S+|\]\([^()]*\)/g;
const clitics = /['’](?:s|t|re|ve|ll|d|m)\b/gi;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Two small letters at least, or `PDFs` and `OAuth` would fall apart. */
function splitHumps(run: string): string {
  return run.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll}{2,})/gu, "$1 $2");
}

function addRun(found: string[], run: string): void {
  if (functionWords.has(run)) return;
  if (unspaced.test(run)) found.push(...pairs(run));
  else found.push(singular(run));
}

/** The S stemmer (Harman, 1991): plurals only, because `issue` and `issuer` are different things in a tool's name. */
function singular(word: string): string {
  if (word.length < 3 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return /[ae]ies$/.test(word) ? word : `${word.slice(0, -3)}y`;
  if (word.endsWith("es")) return /[aeo]es$/.test(word) ? word : word.slice(0, -1);
  return /[us]s$/.test(word) ? word : word.slice(0, -1);
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.length === 1 ? characters : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

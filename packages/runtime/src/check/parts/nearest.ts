import { distance } from "fastest-levenshtein";

/** Names near to a misspelt one. */
export interface Nearest {
  /** Best first, at most five. */
  readonly names: readonly string[];
  /** The only one that is near enough to be what was meant; undefined when none is or two are. */
  readonly only: string | undefined;
}

const maxComparedChars = 120;

/** Case and separators do not count; of the letters, a third may differ. `only` is stricter: a quarter, at most three. */
export function nearest(name: string, candidates: Iterable<string>): Nearest {
  const wanted = plain(name);
  if (wanted === "" || wanted.length > maxComparedChars) return { names: [], only: undefined };
  const ranked: { name: string; edits: number; rank: number }[] = [];
  for (const candidate of candidates) {
    const other = plain(candidate);
    if (other === "" || other.length > maxComparedChars) continue;
    const longest = Math.max(wanted.length, other.length);
    const allowed = Math.max(1, Math.floor(longest / 3));
    const edits = Math.abs(wanted.length - other.length) > allowed ? longest : editsBetween(wanted, other);
    if (edits <= allowed && edits < longest) ranked.push({ name: candidate, edits, rank: edits / longest });
    else if (Math.min(wanted.length, other.length) >= 4 && (wanted.includes(other) || other.includes(wanted))) ranked.push({ name: candidate, edits: longest, rank: 2 - Math.min(wanted.length, other.length) / longest });
  }
  ranked.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const close = ranked.filter(({ edits }) => edits <= Math.min(3, Math.max(1, Math.floor(wanted.length / 4))));
  const [first] = close;
  return { names: ranked.slice(0, 5).map((item) => item.name), only: close.length === 1 && wanted.length >= 3 ? first?.name : undefined };
}

/** Two letters in the wrong order are one slip, not two. */
function editsBetween(a: string, b: string): number {
  const edits = distance(a, b);
  if (edits !== 2 || a.length !== b.length) return edits;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2) ? 1 : edits;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_./\s]+/g, "");
}

/** `; did you mean a or b?`, or nothing. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "" : `; did you mean ${names.slice(0, 3).join(" or ")}?`;
}

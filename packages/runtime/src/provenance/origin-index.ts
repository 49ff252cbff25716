import type { ArgumentOrigins, Origin } from "@callgate/contract";
import { leavesOf } from "./leaves.ts";
import type { Leaf } from "./leaves.ts";

/** What has been answered in a run so far, to be looked up by content. */
export interface OriginIndex {
  /** Adds an answer. */
  add(from: Pick<Origin, "kind" | "seq" | "tool">, value: unknown): void;
  /** Where the parts of a value were seen before, one entry for each text and number in it. */
  origins(value: unknown): readonly ArgumentOrigins[];
  /** Something was too large to be looked at as a whole. */
  readonly isPartial: boolean;
}

/** Of one answer, and of all of a run together: a lookup costs milliseconds, whatever tools answer. */
const answerBounds = { maxLeaves: 20_000, maxChars: 4 * 1024 * 1024 };
const maxRunChars = 16 * 1024 * 1024;
const argumentBounds = { maxLeaves: 2_000, maxChars: 256 * 1024 };
const maxOrigins = 8;
/** Shorter texts, and whole numbers below a hundred, are everywhere by chance. */
const minTextChars = 3;
const minNumber = 100;
/** A text is looked for inside of others from this length on. */
const minPartChars = 6;
/** Texts that begin alike beyond this many are found only as a whole. */
const maxAlike = 64;

interface Seen {
  readonly from: Pick<Origin, "kind" | "seq" | "tool">;
  readonly leaf: Leaf;
}

/** @param program its text: what it says itself came from nobody else */
export function createOriginIndex(program: string): OriginIndex {
  const same = new Map<string, Seen[]>();
  /** By their first characters: those that an argument may hold. */
  const beginnings = new Map<string, Seen[]>();
  /** Those that an argument may be a part of. */
  const texts: Seen[] = [];
  let chars = 0;
  let isPartial = false;

  function add(from: Seen["from"], value: unknown): void {
    const { leaves, isWhole } = leavesOf(value, { ...answerBounds, maxChars: Math.min(answerBounds.maxChars, maxRunChars - chars) });
    if (!isWhole) isPartial = true;
    for (const leaf of leaves) {
      chars += leaf.text.length;
      if (!isTelling(leaf)) continue;
      const seen: Seen = { from, leaf };
      put(same, leaf.text, seen);
      if (leaf.text.length < minPartChars) continue;
      put(beginnings, leaf.text.slice(0, minPartChars), seen);
      if (!leaf.isNumber && leaf.text.length > minPartChars) texts.push(seen);
    }
  }

  function lookUp(text: string, isNumber: boolean): readonly Origin[] {
    const found: Origin[] = (same.get(text) ?? []).map((seen) => originOf(seen, "same"));
    const said = { kind: "program", how: "same" } as const;
    if (isNumber || text.length < minPartChars) return nearest([...found, ...(saysIt(program, text) ? [said] : [])]);
    if (found.length === 0) found.push(...texts.flatMap((seen) => (seen.leaf.text.length > text.length && seen.leaf.text.includes(text) ? [originOf(seen, "part")] : [])));
    if (found.length === 0) found.push(...heldIn(text).map((seen) => originOf(seen, "holds")));
    if (program.includes(text)) found.push({ kind: "program", how: "same" });
    return nearest(found);
  }

  /** Answers that stand inside of a longer text; of two at one place the longer. */
  function heldIn(text: string): readonly Seen[] {
    const found: Seen[] = [];
    for (let at = 0; at + minPartChars <= text.length; at += 1) {
      const here = (beginnings.get(text.slice(at, at + minPartChars)) ?? []).filter(({ leaf }) => text.startsWith(leaf.text, at));
      const longest = Math.max(0, ...here.map(({ leaf }) => leaf.text.length));
      found.push(...here.filter(({ leaf }) => leaf.text.length === longest));
      if (longest > 0) at += longest - 1;
    }
    return found;
  }

  return {
    add,
    origins(value) {
      const { leaves, isWhole } = leavesOf(value, argumentBounds);
      if (!isWhole) isPartial = true;
      return leaves.map((leaf) => {
        const found = isTelling(leaf) ? lookUp(leaf.text, leaf.isNumber) : [];
        if (found.some(({ kind }) => kind !== "program") || leaf.isNumber) return { path: leaf.path, origins: found };
        const decoded = decodings(leaf.text).flatMap((text) => lookUp(text, false).flatMap((origin): readonly Origin[] => (origin.kind === "program" ? [] : [{ ...origin, how: "decoded" }])));
        return { path: leaf.path, origins: nearest([...decoded, ...found]) };
      });
    },
    get isPartial() {
      return isPartial;
    },
  };
}

function put(index: Map<string, Seen[]>, key: string, seen: Seen): void {
  const there = index.get(key);
  if (there === undefined) index.set(key, [seen]);
  else if (there.length < maxAlike) there.push(seen);
}

/** Whether a value is long enough that two of it are hardly equal by chance. */
export function isTelling({ text, isNumber }: Pick<Leaf, "text" | "isNumber">): boolean {
  return isNumber ? !/^-?\d+$/.test(text) || Math.abs(Number(text)) >= minNumber : text.trim().length >= minTextChars;
}

/** A short word counts as the program's only where it stands by itself. */
function saysIt(program: string, text: string): boolean {
  const at = program.indexOf(text);
  return at >= 0 && !/\w/.test(program[at - 1] ?? " ") && !/\w/.test(program[at + text.length] ?? " ");
}

function originOf({ from, leaf }: Seen, how: Origin["how"]): Origin {
  return { ...from, path: leaf.path, how };
}

/** The latest answers first: what a program works with is most often what it has just read. */
function nearest(found: readonly Origin[]): readonly Origin[] {
  return [...found].sort((a, b) => (b.seq ?? -1) - (a.seq ?? -1)).slice(0, maxOrigins);
}

/** What a text says once it is decoded, where it can be. */
function decodings(text: string): readonly string[] {
  const decoded: string[] = [];
  if (/%[0-9a-f]{2}/i.test(text)) {
    try {
      decoded.push(decodeURIComponent(text));
    } catch {} // It only looks like one.
  }
  if (text.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    const bytes = Buffer.from(text, "base64");
    const plain = bytes.toString("utf8");
    if (!plain.includes("\uFFFD") && Buffer.from(plain, "utf8").equals(bytes)) decoded.push(plain);
  }
  return decoded.filter((one) => one.length >= minTextChars);
}

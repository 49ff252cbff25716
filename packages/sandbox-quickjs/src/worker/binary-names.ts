import { NotCompact, quote, stringEnd, unplainAt, writeCount, writeUnits } from "./json-bytes.ts";

/** The names of properties in a JSON text, by number from 1. */
export interface BinaryNames {
  /** The number of the name whose opening quote is at `at`, after the name numbered `last` (0 for none). */
  read(at: number, last: number): number;
  /** Behind the closing quote of the name read last. */
  readonly end: number;
  /** How many there are, and all of them, as the engine reads them. */
  listed(): Buffer;
}

/** Records come in rows: after a name there is mostly the same one as the last time, and a look at its bytes is enough. */
export function createBinaryNames(text: Buffer): BinaryNames {
  const numbers = new Map<string, number>();
  const starts: number[] = [0];
  const ends: number[] = [0];
  const follower: number[] = [0];
  let end = 0;

  const isAt = (at: number, known: number): boolean => {
    const start = starts[known] as number;
    const length = (ends[known] as number) - start;
    for (let index = 0; index < length; index++) if (text[at + index] !== text[start + index]) return false;
    end = at + length;
    return true;
  };

  return {
    get end() {
      return end;
    },
    read(at, last) {
      const guess = follower[last] as number;
      if (guess !== 0 && isAt(at, guess)) return guess;
      if (text[at] !== quote) throw new NotCompact();
      end = stringEnd(text, unplainAt(text, at + 1)) + 1;
      const name = JSON.parse(text.toString("utf8", at, end)) as string;
      let known = numbers.get(name);
      if (known === undefined) {
        known = starts.length;
        numbers.set(name, known);
        starts.push(at);
        ends.push(end);
        follower.push(0);
      }
      follower[last] = known;
      return known;
    },
    listed() {
      let bytes = 5;
      for (const name of numbers.keys()) bytes += name.length * 2 + 5;
      const out = Buffer.allocUnsafe(bytes);
      let to = writeCount(out, 0, numbers.size);
      for (const name of numbers.keys()) to = writeUnits(out, to, name);
      return out.subarray(0, to);
    },
  };
}

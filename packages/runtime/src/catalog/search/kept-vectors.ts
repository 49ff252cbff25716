import type { Digest, EmbeddingProvider, SearchIndexStore } from "@callgate/contract";
import { createSlices } from "../../lib/slices.ts";
import { alignedCopy, bytesOf, encodeParts, readParts } from "./kept-parts.ts";
import type { KeptForm } from "./kept-parts.ts";

/** A vector of length 1, each number in a byte: what is lost thereby is less than two models differ in. */
export interface ShortVector {
  readonly numbers: Int8Array;
  /** What each number is multiplied with. */
  readonly unit: number;
}

/** Vectors by the digest of the tool's definition. */
export type VectorsByDigest = Map<Digest, ShortVector>;

const form: KeptForm = { what: "tool vectors", version: 1 };

/** Those that the same model made; empty where nothing is kept of it. */
export async function readVectors(store: SearchIndexStore, { model, dimensions }: EmbeddingProvider): Promise<VectorsByDigest> {
  const slices = createSlices();
  const [about, digests, units, numbers] = (await readParts(form, store, slices)) ?? [];
  const known: VectorsByDigest = new Map();
  if (about === undefined || digests === undefined || units === undefined || numbers === undefined) return known;
  if (about.toString() !== aboutOf({ model, dimensions })) return known;
  const [allUnits, allNumbers] = [new Float32Array(alignedCopy(units)), new Int8Array(alignedCopy(numbers))];
  for (const [index, digest] of digests.toString().split("\n").entries()) {
    const unit = allUnits[index];
    if (unit !== undefined) known.set(digest as Digest, { unit, numbers: allNumbers.subarray(index * dimensions, (index + 1) * dimensions) });
    if (slices.isDue) await slices.giveWay();
  }
  return known;
}

export async function writeVectors(store: SearchIndexStore, vectors: VectorsByDigest, { model, dimensions }: EmbeddingProvider): Promise<void> {
  const slices = createSlices();
  const numbers = new Int8Array(vectors.size * dimensions);
  const units = new Float32Array(vectors.size);
  let index = 0;
  for (const vector of vectors.values()) {
    numbers.set(vector.numbers, index * dimensions);
    units[index] = vector.unit;
    index += 1;
  }
  store.write(await encodeParts(form, [Buffer.from(aboutOf({ model, dimensions })), Buffer.from([...vectors.keys()].join("\n")), bytesOf(units), bytesOf(numbers)], slices));
}

function aboutOf({ model, dimensions }: Pick<EmbeddingProvider, "model" | "dimensions">): string {
  return JSON.stringify([model, dimensions]);
}

/** Undefined for what is no vector of this many numbers. A vector of nothing but 0 is like nothing. */
export function shortened(vector: ArrayLike<number> | undefined, dimensions: number): ShortVector | undefined {
  if (vector === undefined || vector.length !== dimensions) return undefined;
  let [squares, most] = [0, 0];
  for (let index = 0; index < dimensions; index += 1) {
    const number = vector[index] ?? Number.NaN;
    squares += number * number;
    most = Math.max(most, Math.abs(number));
  }
  if (!Number.isFinite(squares)) return undefined;
  if (squares === 0) return { numbers: new Int8Array(dimensions), unit: 0 };
  return { numbers: Int8Array.from({ length: dimensions }, (_, index) => Math.round((127 * (vector[index] ?? 0)) / most)), unit: most / 127 / Math.sqrt(squares) };
}

/** The cosine of two. */
export function cosine(one: ShortVector, other: ShortVector): number {
  let sum = 0;
  for (let index = 0; index < one.numbers.length; index += 1) sum += (one.numbers[index] ?? 0) * (other.numbers[index] ?? 0);
  return sum * one.unit * other.unit;
}

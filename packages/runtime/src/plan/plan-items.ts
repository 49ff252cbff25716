import { encodeValue } from "@callgate/contract";
import type { Digest, PlanItem } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { alignCalls } from "../lib/align-calls.ts";
import { differingPaths, withoutPaths } from "./value-paths.ts";

/** A write as a rehearsal has it on record. */
export interface RehearsedWrite extends Omit<PlanItem, "id" | "isConditional" | "varies" | "derivedFrom" | "change" | "inner"> {
  readonly seq: number;
  readonly definitionDigest: Digest;
  /** As it would be performed. */
  readonly clear: unknown;
  /** Of a workflow: the writes of its own rehearsal. */
  readonly inner?: readonly RehearsedWrite[];
}

/**
 * The items of a plan: the writes of a rehearsal, held against those of one with other placeholders. What came there as
 * well, with the same arguments, does not depend on what the writes before it answer, as far as two rehearsals can tell.
 * What came only there is an item too, after the others, and conditional.
 */
export function planItems(plain: readonly RehearsedWrite[], varied: readonly RehearsedWrite[], within = ""): readonly PlanItem[] {
  const pairs = alignCalls(plain, varied);
  const counterparts = new Map(pairs.map(([one, other]) => [one, other]));
  const idOf = (index: number): string => `${within}${index + 1}`;
  const ids = new Map(plain.map(({ seq }, index) => [seq, idOf(index)]));
  const only = pairs.flatMap(([one, other]) => (one === undefined && other !== undefined ? [other] : []));
  return [
    ...plain.map((write, index) => itemOf(write, { id: idOf(index), ids, counterpart: counterparts.get(write) })),
    ...only.map((write, index) => itemOf(write, { id: idOf(plain.length + index), ids: new Map(), counterpart: undefined })),
  ];
}

interface Making {
  readonly id: string;
  /** Of items, by the number of their call. */
  readonly ids: ReadonlyMap<number, string>;
  readonly counterpart: RehearsedWrite | undefined;
}

function itemOf({ seq: _seq, definitionDigest: _definitionDigest, clear, inner, ...write }: RehearsedWrite, { id, ids, counterpart }: Making): PlanItem {
  const paths = counterpart === undefined ? placeholderPaths(write) : differingPaths(clear, counterpart.clear);
  const within = new Set(paths);
  const sources = write.origins.filter(({ path }) => isAtOrBelow(path, within)).flatMap(({ origins }) => origins.flatMap(({ kind, seq }) => (kind === "placeholder" ? [ids.get(seq ?? -1)] : [])));
  return {
    id,
    ...write,
    ...(counterpart === undefined ? { isConditional: true as const } : {}),
    ...(paths.length === 0 ? {} : { varies: { paths, restDigest: restDigest(clear, paths) } }),
    // Of one that is conditional itself nothing is known to compare with.
    ...(inner === undefined ? {} : { inner: planItems(inner, counterpart?.inner ?? inner, `${id}.`) }),
    derivedFrom: [...new Set(sources)].filter((source) => source !== undefined && source !== id) as string[],
  };
}

/** Of a write that came in one rehearsal only: where its arguments are known from placeholders alone. */
function placeholderPaths({ origins }: Pick<PlanItem, "origins">): readonly string[] {
  return origins.filter(({ origins: seen }) => seen.some(({ kind }) => kind === "placeholder") && !seen.some(({ kind, how }) => kind !== "placeholder" && how === "same")).map(({ path }) => path);
}

function isAtOrBelow(path: string, places: ReadonlySet<string>): boolean {
  return [...places].some((place) => path === place || path.startsWith(`${place}/`));
}

/** Of arguments without what stands at these places: what has to be the same when the write comes. */
export function restDigest(args: unknown, paths: readonly string[]): Digest {
  return digestOfWire(encodeValue(withoutPaths(args, new Set(paths))));
}

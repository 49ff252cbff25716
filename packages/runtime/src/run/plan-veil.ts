import { decodeValue } from "@callgate/contract";
import type { ArgumentOrigins, JournalEntry, JsonValue, Redactor } from "@callgate/contract";
import { inputMarks, inputPointers, outputPointers } from "../broker/pointers.ts";
import { hideValues, sensitiveValues } from "../broker/sensitive-values.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { unescapePointer } from "../lib/json-pointer.ts";
import { pointerTree } from "../secrets/pointer-tree.ts";
import type { CatalogView } from "./catalog-view.ts";
import { readRecordedCalls } from "./recorded-calls.ts";

/** Keeps what the tools of a rehearsal call sensitive out of its plan, wherever the program passed it on to. */
export interface PlanVeil {
  /** Arguments as a plan shows them: what is sensitive is a keyed hash, the one that every record has for the value. */
  args(value: unknown, tool: CatalogTool, origins: readonly ArgumentOrigins[]): JsonValue;
  /** What was made elsewhere for showing. */
  hide(shown: JsonValue): JsonValue;
  text(shown: string): string;
  /** Arguments that a person wrote, with the values in the place of hashes in them, as far as they are known. */
  reveal(written: unknown): unknown;
}

/**
 * @param entries of the run whose arguments are shown, with their clear values
 * @param others of runs that it exchanges values with: the workflows that it calls, and what calls it
 */
export function createPlanVeil({ redactor, view }: { readonly redactor: Redactor; readonly view: CatalogView }, entries: readonly JournalEntry[], others: readonly (readonly JournalEntry[])[] = []): PlanVeil {
  const { values: own, outputs } = sensitiveOf(entries, view);
  const values = [...new Set([...own, ...others.flatMap((one) => sensitiveOf(one, view).values)])].sort((a, b) => b.length - a.length);
  const hashOf = (value: unknown): string => {
    const hash = redactor.summary(value, [""]);
    return typeof hash === "string" ? hash : "[sensitive]";
  };
  const hide = (shown: JsonValue): JsonValue => (values.length === 0 ? shown : hideValues(shown, values, hashOf));
  const isSensitive = ({ seq, path = "" }: ArgumentOrigins["origins"][number]): boolean => isWithin(path, outputs.get(seq ?? -1) ?? []);
  const byHash = new Map<string, string | number>(values.flatMap((value) => [[hashOf(value), value] as const, ...(Number.isFinite(Number(value)) ? [[hashOf(Number(value)), Number(value)] as const] : [])]));
  return {
    args(value, tool, origins) {
      // What is in a longer text is replaced there; what is the value, or a part of it, is hidden as a whole.
      const places = origins.filter((one) => one.origins.some((origin) => origin.how !== "holds" && isSensitive(origin))).map(({ path }) => path);
      return hide(redactor.whole(value, [...inputMarks(tool), ...places]));
    },
    hide,
    text: (shown) => hide(shown) as string,
    reveal: (written) => revealed(written, byHash),
  };
}

/** Clear texts that tools call sensitive, and where the answers of calls are, by their number. */
function sensitiveOf(entries: readonly JournalEntry[], { catalog }: CatalogView): { readonly values: readonly string[]; readonly outputs: ReadonlyMap<number, readonly string[]> } {
  const values: string[] = [];
  const outputs = new Map<number, readonly string[]>();
  for (const { issued, ended, output } of readRecordedCalls(entries, []).values()) {
    const tool = issued === undefined ? undefined : catalog.resolve(issued.tool);
    if (issued === undefined || tool === undefined) continue;
    const [given, got] = [inputPointers(tool), outputPointers(tool)];
    if (issued.args.clear !== undefined) values.push(...sensitiveValues(decodeValue(issued.args.clear), given));
    // A placeholder that we made is nobody's: it has to be seen for one.
    if (got.length === 0 || (ended?.simulated !== undefined && ended.simulated !== "tool")) continue;
    outputs.set(issued.seq, got);
    if (output?.clear !== undefined) values.push(...sensitiveValues(decodeValue(output.clear), got));
  }
  return { values, outputs };
}

/** Whether a place is one of those that pointers name, or below one. */
function isWithin(path: string, pointers: readonly string[]): boolean {
  let at = pointerTree(pointers);
  for (const key of path.split("/").slice(1)) {
    if (at === undefined || at.isSensitive) break;
    at = at.below(unescapePointer(key));
  }
  return at?.isSensitive === true;
}

function revealed(written: unknown, byHash: ReadonlyMap<string, string | number>): unknown {
  if (typeof written === "string") return byHash.get(written) ?? [...byHash].reduce((left, [hash, clear]) => left.replaceAll(hash, () => String(clear)), written);
  if (Array.isArray(written)) return written.map((item) => revealed(item, byHash));
  if (typeof written !== "object" || written === null) return written;
  return Object.fromEntries(Object.entries(written).map(([key, item]) => [key, revealed(item, byHash)]));
}

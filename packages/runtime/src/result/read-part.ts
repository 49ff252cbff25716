import type { CallError, ReadOptions, ReadResult } from "@callgate/contract";
import { fitOutline } from "./fit-value.ts";
import { grepLines } from "./grep.ts";
import { modelView } from "./model-view.ts";
import { rankPassages } from "./passages.ts";
import { isSurelyOver } from "./surely-over.ts";
import type { TokenCounter } from "./token-counter.ts";
import { followPath } from "./value-path.ts";

/** What is asked for of a value; see `ReadOptions`. */
export type PartOptions = Pick<ReadOptions, "path" | "offset" | "limit" | "grep" | "search">;

/** How much may come back. Undefined for a program, which is bounded by its memory instead. */
export interface PartBudget {
  readonly tokens: number;
  readonly counter: TokenCounter;
}

type Part = Extract<ReadResult, { kind: "value" }>;

/**
 * A part of a kept value.
 *
 * - `path` first, then one of `search`, `grep` or a slice.
 * - A slice is of items (lists), lines (text of several lines), characters (other text) or entries (objects, maps).
 * - `grep` gives `{ index, line }` (text) or `{ index, item }` (lists and objects, over each item's JSON).
 * - `search` gives `{ offset, text, score }`, best first.
 * - What is over the budget stops early with `nextOffset`; one item that is over it alone comes as an outline, and
 *   `outlined` says so.
 */
export function readPart(value: unknown, options: PartOptions, budget: PartBudget | undefined): ReadResult {
  const wrong = wrongOption(options);
  if (wrong !== undefined) return failure("INVALID_INPUT", wrong);
  const found = followPath(value, options.path ?? "");
  if (found.kind === "missing") return failure("INVALID_INPUT", found.message, "/path");
  if (options.search !== undefined) return search(found.value, options.search, { options, budget });
  if (options.grep !== undefined) return grep(found.value, options.grep, { options, budget });
  return slice(found.value, options, budget);
}

interface How {
  readonly options: PartOptions;
  readonly budget: PartBudget | undefined;
}

function wrongOption({ offset, limit, grep: pattern, search: query }: PartOptions): string | undefined {
  for (const [name, number] of [["offset", offset], ["limit", limit]] as const) {
    if (number !== undefined && (!Number.isSafeInteger(number) || number < 0)) return `${name} must be a whole number from 0, not ${String(number)}`;
  }
  return pattern !== undefined && query !== undefined ? "Give grep or search, not both" : undefined;
}

export function failure(code: string, message: string, path?: string): Extract<ReadResult, { kind: "error" }> {
  const error: CallError = { code, message, tool: "read_result", retryable: false, ...(path === undefined ? {} : { path }) };
  return { kind: "error", error };
}

/** The text that search and grep look at: of a string itself, of anything else its JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(modelView(value), undefined, 1);
}

function search(value: unknown, query: string, { options, budget }: How): ReadResult {
  const { offset = 0, limit = 5 } = options;
  const passages = rankPassages(textOf(value), query, offset + Math.min(limit, 100)).slice(offset);
  return fitItems(passages, { total: undefined, offset, more: false, budget });
}

function grep(value: unknown, pattern: string, { options, budget }: How): ReadResult {
  const { offset = 0, limit = 100 } = options;
  const items = itemsOf(value);
  const lines = items === undefined ? textOf(value).split("\n") : mapLazily(items, (item) => (typeof item === "string" ? item : JSON.stringify(modelView(item))));
  const grepped = grepLines(lines, pattern, { offset, limit });
  if (grepped.kind === "invalid") return failure("INVALID_INPUT", grepped.message, "/grep");
  const matches = grepped.matches.map(({ index, line }) => (items === undefined ? { index, line } : { index, item: items[index] }));
  return fitItems(matches, { total: grepped.total, offset, more: offset + matches.length < grepped.total, budget });
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (value instanceof Set || value instanceof Map) return [...value];
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array || value instanceof Error) return undefined;
  return Object.entries(value).map(([key, item]) => ({ [key]: item as unknown }));
}

function* mapLazily<Item>(items: Iterable<Item>, text: (item: Item) => string): Generator<string> {
  for (const item of items) yield text(item);
}

function slice(value: unknown, options: PartOptions, budget: PartBudget | undefined): ReadResult {
  const { offset, limit } = options;
  if (typeof value === "string") return sliceText(value, options, budget);
  if (offset === undefined && limit === undefined && (budget === undefined || fits(value, budget))) return { kind: "value", value, ...(Array.isArray(value) ? { total: value.length } : {}) };
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const start = Math.min(offset ?? 0, items.length);
    const end = Math.min(items.length, start + (limit ?? items.length));
    return fitItems(items.slice(start, end), { total: items.length, offset: start, more: end < items.length, budget });
  }
  if (typeof value === "object" && value !== null && (offset !== undefined || limit !== undefined)) return sliceEntries(value, options, budget);
  return budget === undefined || fits(value, budget) ? { kind: "value", value } : outlined(value, budget);
}

function sliceEntries(value: object, { offset = 0, limit }: PartOptions, budget: PartBudget | undefined): ReadResult {
  const entries = Object.entries(value);
  const part = fitItems(entries.slice(offset, limit === undefined ? undefined : offset + limit), { total: entries.length, offset, more: limit !== undefined && offset + limit < entries.length, budget });
  if (part.kind !== "value" || part.outlined === true) return part;
  return { ...part, value: Object.fromEntries(part.value as (readonly [string, unknown])[]) };
}

function fits(value: unknown, { tokens, counter }: PartBudget): boolean {
  return !isSurelyOver(value, tokens) && counter.within(JSON.stringify(modelView(value)), tokens) !== undefined;
}

function outlined(value: unknown, { tokens, counter }: PartBudget): Part {
  return { kind: "value", value: fitOutline(value, tokens, counter).outline, outlined: true };
}

interface Fitting {
  readonly total: number | undefined;
  readonly offset: number;
  /** True when there are more after `items`. */
  readonly more: boolean;
  readonly budget: PartBudget | undefined;
}

/** The list around items, the quotes around a text. */
const aroundTokens = 10;

/** As many of the items as fit, and where to go on. */
function fitItems(items: readonly unknown[], { total, offset, more, budget }: Fitting): ReadResult {
  const around = total === undefined ? {} : { total };
  if (budget === undefined) return { kind: "value", value: items, ...around, ...(more ? { nextOffset: offset + items.length } : {}) };
  let left = budget.tokens - aroundTokens;
  let taken = 0;
  for (const item of items) {
    const count = budget.counter.within(JSON.stringify(modelView(item)), left);
    if (count === undefined) break;
    left -= count + 1;
    taken += 1;
  }
  if (taken === 0 && items.length > 0) {
    const one = outlined(items[0], { ...budget, tokens: budget.tokens - aroundTokens });
    return { ...one, value: [one.value], ...around, ...(more || items.length > 1 ? { nextOffset: offset + 1 } : {}) };
  }
  return { kind: "value", value: items.slice(0, taken), ...around, ...(more || taken < items.length ? { nextOffset: offset + taken } : {}) };
}

/** Text of several lines is counted in lines, other text in characters. */
function sliceText(text: string, { offset = 0, limit }: PartOptions, budget: PartBudget | undefined): ReadResult {
  if (text.includes("\n")) {
    const lines = text.split("\n");
    const end = limit === undefined ? lines.length : Math.min(lines.length, offset + limit);
    const part = fitItems(lines.slice(offset, end), { total: lines.length, offset, more: end < lines.length, budget });
    if (part.kind !== "value" || part.outlined === true) return longLine(lines[offset] ?? "", part, budget);
    return { ...part, value: (part.value as readonly string[]).join("\n") };
  }
  const end = limit === undefined ? text.length : Math.min(text.length, offset + limit);
  return characters(text, { start: offset, end, budget });
}

/** A line that is over the budget alone is cut; its rest is one `grep` or a path away. */
function longLine(line: string, part: ReadResult, budget: PartBudget | undefined): ReadResult {
  if (part.kind !== "value" || budget === undefined) return part;
  const { value } = characters(line, { start: 0, end: line.length, budget });
  return { ...part, value, outlined: true };
}

function characters(text: string, { start, end, budget }: { readonly start: number; readonly end: number; readonly budget: PartBudget | undefined }): Part {
  const whole = text.slice(start, end);
  const shown = budget === undefined ? whole : cutText(whole, budget);
  const next = start + shown.length;
  const isPart = start > 0 || next < text.length;
  return { kind: "value", value: shown, ...(isPart ? { total: text.length } : {}), ...(next < text.length ? { nextOffset: next } : {}) };
}

/** JSON escapes make a text longer than it is, so it is measured as JSON. */
function cutText(text: string, { tokens, counter }: PartBudget): string {
  let chars = Math.min(text.length, tokens * 16);
  for (;;) {
    const part = text.slice(0, chars);
    if (counter.within(JSON.stringify(part), tokens - aroundTokens) !== undefined) return part;
    chars = Math.floor(chars * 0.8);
  }
}

import type { DetectorSwitches, JsonValue } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { hidden } from "./detectors/detect.ts";
import { isSecretName } from "./detectors/find-secrets.ts";
import type { PointerTree } from "./pointer-tree.ts";

/** UTF-8 bytes of JSON a summary has at most (contract, `Redactor`). */
const summaryBytes = 4096;

export interface SummarizeOptions {
  readonly sensitive: PointerTree | undefined;
  /** What stands for a sensitive value. */
  readonly hash: (value: unknown) => string;
  /** Takes known secrets, and what these detectors find, out of a text. */
  readonly text: (text: string, detect: DetectorSwitches) => string;
  /** Where nothing is switched. */
  readonly detect: DetectorSwitches;
  /** Length of the longest text that `text` looks for. */
  readonly longestForm: number;
}

/** How much of a value one try shows. */
interface Detail {
  readonly items: number;
  readonly keys: number;
  readonly chars: number;
  readonly depth: number;
  /** Values looked at in one try, so that the cost does not grow with the value. */
  readonly nodes: number;
}

const maxNodes = 400;

/** All there is. Deeper than the codec takes no value is. */
const all: Detail = { items: Infinity, keys: Infinity, chars: Infinity, depth: 1_000, nodes: Infinity };

/** From generous to scant; the first that fits is taken. */
const details: readonly Detail[] = [
  { items: 20, keys: 40, chars: 400, depth: 6, nodes: maxNodes },
  { items: 5, keys: 20, chars: 120, depth: 4, nodes: maxNodes },
  { items: 2, keys: 10, chars: 60, depth: 3, nodes: maxNodes },
  { items: 1, keys: 5, chars: 30, depth: 2, nodes: maxNodes },
];

const MAX_KEY_CHARS = 80;

/** The least number of 14 digits. */
const leastCard = 1e13;

interface CutOptions {
  readonly redact: (text: string) => string;
  readonly longestForm: number;
}

/**
 * Makes the bounded picture of a value that may be written down: the first items, keys and characters, with the number
 * of those left out; sensitive parts as hashes. Never fails: what JSON has no word for is named in brackets.
 *
 * Cost: bounded, whatever the size of the value, apart from the list of an object's keys.
 */
export function summarize(value: unknown, options: SummarizeOptions): JsonValue {
  for (const detail of details) {
    const summary = summarizeOnce(value, detail, options);
    if (Buffer.byteLength(JSON.stringify(summary)) <= summaryBytes) return summary;
  }
  return describeShape(value);
}

/** The same picture with nothing left out: sensitive parts are hashes, known secrets are taken out. */
export function summarizeWhole(value: unknown, options: SummarizeOptions): JsonValue {
  return summarizeOnce(value, all, options);
}

function summarizeOnce(root: unknown, detail: Detail, options: SummarizeOptions): JsonValue {
  let nodes = 0;

  const switchesAt = (place: PointerTree | undefined): DetectorSwitches => (place?.detect === undefined ? options.detect : { ...options.detect, ...place.detect });

  function visit(value: unknown, sensitive: PointerTree | undefined, depth: number): JsonValue {
    nodes += 1;
    if (sensitive?.isSensitive === true) return options.hash(value);
    if (typeof value === "string") return cut(value, detail.chars, cutAt(sensitive));
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "number") return Number.isFinite(value) ? numberOr(value, sensitive) : `[${value}]`;
    if (!Array.isArray(value) && !isPlainObject(value)) return typeof value === "bigint" ? options.text(describeShape(value), switchesAt(sensitive)) : describeShape(value);
    if (depth >= detail.depth || nodes > detail.nodes) return describeShape(value);
    return Array.isArray(value) ? visitArray(value, sensitive, depth) : visitObject(value as Readonly<Record<string, unknown>>, sensitive, depth);
  }

  function cutAt(place: PointerTree | undefined): CutOptions {
    const switches = switchesAt(place);
    return { redact: (text) => options.text(text, switches), longestForm: options.longestForm };
  }

  /** A card may be written as a number; shorter ones are looked at no further. */
  function numberOr(value: number, place: PointerTree | undefined): JsonValue {
    if (!(value >= leastCard) || !Number.isInteger(value)) return value;
    const written = String(value);
    const shown = options.text(written, switchesAt(place));
    return shown === written ? value : shown;
  }

  function visitArray(value: readonly unknown[], sensitive: PointerTree | undefined, depth: number): JsonValue {
    const shown: JsonValue[] = [];
    // One more than allowed is shown: "1 more" would take its place.
    const limit = value.length <= detail.items + 1 ? value.length : detail.items;
    for (let index = 0; index < limit && nodes <= detail.nodes; index += 1) shown.push(visit(value[index], sensitive?.below(String(index)), depth + 1));
    if (shown.length < value.length) shown.push(`… ${value.length - shown.length} more of ${value.length} items`);
    return shown;
  }

  function visitObject(value: Readonly<Record<string, unknown>>, sensitive: PointerTree | undefined, depth: number): JsonValue {
    const keys = Object.keys(value);
    const shown: [string, JsonValue][] = [];
    const limit = keys.length <= detail.keys + 1 ? keys.length : detail.keys;
    for (const key of keys.slice(0, limit)) {
      if (nodes > detail.nodes) break;
      const below = sensitive?.below(key);
      const item = value[key];
      const isSecret = isNamedSecret(key, item) && switchesAt(below).secret === true && below?.isSensitive !== true;
      shown.push([cut(key, Math.max(detail.chars === Infinity ? Infinity : 0, MAX_KEY_CHARS), cutAt(sensitive)), isSecret ? hidden("secret", options.hash(item)) : visit(item, below, depth + 1)]);
    }
    if (shown.length < keys.length) shown.push(["…", `${keys.length - shown.length} more of ${keys.length} properties`]);
    return Object.fromEntries(shown); // Defines `__proto__` like any other name.
  }

  return visit(root, options.sensitive, 0);
}

/** Without secrets, and at most `maxChars` of it, never half a character. */
function cut(text: string, maxChars: number, { redact, longestForm }: CutOptions): string {
  if (text.length <= maxChars) return redact(text);
  const isLong = text.length > maxChars + 2 * longestForm;
  const redacted = redact(isLong ? text.slice(0, maxChars + 2 * longestForm) : text);
  // The end of a slice may hold the first half of a secret, which nobody would know for one.
  const safe = isLong ? redacted.slice(0, Math.max(0, redacted.length - longestForm)) : redacted;
  if (safe.length <= maxChars && !isLong) return safe;
  return `${sliceWhole(safe, maxChars)}… (${text.length} characters)`;
}

/** The first `maxChars` UTF-16 units, without a half of a surrogate pair at the end. */
function sliceWhole(text: string, maxChars: number): string {
  return text.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, "");
}

/** Whether one is needed and its absence are no secret. */
function isNamedSecret(key: string, value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && typeof value !== "boolean" && isSecretName(key);
}

/** Kind and size, nothing of the content. */
function describeShape(value: unknown): string {
  if (typeof value === "string") return `[text of ${value.length} characters]`;
  if (typeof value === "bigint") return value.toString().length <= 40 ? `${value}n` : `[bigint]`;
  if (typeof value !== "object" || value === null) return `[${typeof value}]`;
  if (Array.isArray(value)) return `[array of ${value.length}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof Map) return `[map of ${value.size}]`;
  if (value instanceof Set) return `[set of ${value.size}]`;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Error) return "[error]";
  return `[object of ${Object.keys(value).length} properties]`;
}

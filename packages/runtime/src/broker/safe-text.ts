import type { JsonObject, JsonValue, Redactor } from "@callgate/contract";

/** Longest message that leaves the broker, in UTF-16 units. */
const MAX_CHARS = 2_000;
/** Beyond this nothing is even looked at: the patterns below are linear, but not free. */
const MAX_SCANNED_CHARS = 64 * 1024;

// Lines of a stack are indented and end in a position or name engine code; "at noon" does not.
const STACK_LINE = /^[ \t]+at [^\n]*(?::\d+\)?|\((?:native|<anonymous>)\)|<anonymous>)[ \t]*$\n?/gm;
const FILE_URL = /\bfile:\/\/[^\s'"`)\]]*/g;
const INTERNAL = /\bnode:internal[^\s'"`)\]]*/g;
// Not inside a URL or a longer path; roots under which a machine keeps its own things.
const HOST_PATH = /(?<![\w.:/-])\/(?:home|Users|root|tmp|var|usr|opt|etc|srv|mnt|private|proc|nix|work|workspace)\/[^\s'"`)\],;]*/g;
const CODE_PATH = /(?<![\w.:/-])\/[^\s'"`)\],;]*(?:node_modules[^\s'"`)\],;]*|\.[cm]?[jt]sx?:\d+(?::\d+)?|\.py:\d+)/g;
const WINDOWS_PATH = /\b[A-Za-z]:\\[^\s'"`)\],;]*/g;

export interface SafeText {
  /** Redacted, without stacks and paths of the host, bounded. */
  text(value: string): string;
  /** The same for plain data; what is not plain, too deep or too much is left out. */
  json(value: unknown): JsonObject | undefined;
}

/**
 * Makes text of a tool's error fit to leave the gate.
 *
 * @param given text of the arguments: a path that the caller itself wrote is no secret to it and stays
 */
export function safeText(redactor: Redactor, given: string): SafeText {
  const hide = (found: string): string => (given.includes(found.replace(/(?::\d+){1,2}$/, "")) ? found : "[path]");
  const text = (value: string): string => {
    const scanned = value.length > MAX_SCANNED_CHARS ? value.slice(0, MAX_SCANNED_CHARS) : value;
    const clean = redactor
      .text(scanned)
      .replace(STACK_LINE, "")
      .replace(FILE_URL, hide)
      .replace(INTERNAL, "[internal]")
      .replace(CODE_PATH, hide)
      .replace(HOST_PATH, hide)
      .replace(WINDOWS_PATH, hide)
      .trim();
    return clean.length > MAX_CHARS ? `${clean.slice(0, MAX_CHARS).toWellFormed()}… (${value.length - MAX_CHARS} more characters)` : clean;
  };
  return {
    text,
    json: (value) => {
      const plain = toPlain(value, { text, left: 500 }, 0);
      return typeof plain === "object" && plain !== null && !Array.isArray(plain) ? (plain as JsonObject) : undefined;
    },
  };
}

interface PlainWalk {
  readonly text: (value: string) => string;
  /** Values that may still be taken. */
  left: number;
}

function toPlain(value: unknown, walk: PlainWalk, depth: number): JsonValue | undefined {
  walk.left -= 1;
  if (walk.left < 0 || depth > 8) return undefined;
  switch (typeof value) {
    case "string":
      return walk.text(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : objectToPlain(value, walk, depth);
    case "function":
    case "symbol":
    case "undefined":
      return undefined;
  }
}

function objectToPlain(value: object, walk: PlainWalk, depth: number): JsonValue {
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => toPlain(item, walk, depth + 1) ?? null);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const plain = key === "stack" ? undefined : toPlain(item, walk, depth + 1);
    return plain === undefined ? [] : [[walk.text(key), plain] as const];
  });
  return Object.fromEntries(entries);
}

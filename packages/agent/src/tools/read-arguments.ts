import { readCallArguments } from "@callgate/runtime/surface";

/** Arguments as the tool gets them (`value`), and as the model wrote them (`sent`). */
export type ReadArguments = { readonly kind: "ok"; readonly value: Readonly<Record<string, unknown>>; readonly sent: Readonly<Record<string, unknown>> } | { readonly kind: "unreadable"; readonly why: string };

/** Of the text around a fault. */
const shownChars = 60;

/** Reads what a model wrote as arguments. Nothing at all, blanks and `null` are no arguments: `{}`. */
export function readArguments(text: string): ReadArguments {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return { kind: "ok", value: {}, sent: {} };
  let sent: unknown;
  try {
    sent = JSON.parse(trimmed) as unknown;
  } catch (error) {
    return { kind: "unreadable", why: `its arguments are no JSON: ${whereIn(trimmed, error)}` };
  }
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return { kind: "unreadable", why: `its arguments must be one JSON object, not ${Array.isArray(sent) ? "a list" : typeof sent}` };
  const read = readCallArguments(sent);
  if (read.kind === "inexact") return { kind: "unreadable", why: `at ${read.paths.join(", ")} stands a whole number beyond 2^53, which is rounded on its way; write it as {"$bigint": "<digits>"}` };
  return { kind: "ok", value: read.value as Readonly<Record<string, unknown>>, sent: sent as Readonly<Record<string, unknown>> };
}

/** The position, in words that are the same on every version of the engine. */
function whereIn(text: string, error: unknown): string {
  const said = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  const at = said === undefined ? text.length : Number(said);
  const around = text.slice(Math.max(0, at - shownChars / 2), at + shownChars / 2);
  return `at character ${at + 1}, near ${JSON.stringify(around)}`;
}

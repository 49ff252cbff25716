import type { Diagnostic, GuestConsoleEntry, Handle, RunError, RunResult } from "@callgate/contract";
import { diagnosticText, errorText } from "./report.ts";
import { cutToTokens } from "./token-counter.ts";
import type { TokenCounter } from "./token-counter.ts";

/** The share of a channel. */
export interface Cutting {
  readonly tokens: number;
  readonly counter: TokenCounter;
}

interface KeptCutting extends Cutting {
  /** Keeps the whole channel and names it; called only when something is cut. */
  readonly keep: () => Handle;
}

/** The first items that fit. What is left out is counted by whoever shows the rest. */
export function cutLines<Item>(items: readonly Item[], { tokens, counter, text }: Cutting & { readonly text: (item: Item) => string }): Item[] {
  const kept: Item[] = [];
  let left = tokens;
  for (const item of items) {
    const count = counter.within(text(item), left);
    if (count === undefined) break;
    left -= count + 3;
    kept.push(item);
  }
  return kept;
}

/** The last ones, which say how the run stands, and the first ones. Between them stands how many are left out. */
export function cutNotices(notices: readonly string[], { tokens, counter }: Cutting): readonly string[] {
  const text = (notice: string): string => notice;
  if (cutLines(notices, { tokens, counter, text }).length === notices.length) return notices;
  const room = tokens - 12;
  const tail = cutLines([...notices].reverse(), { tokens: Math.floor(room * 0.6), counter, text }).reverse();
  const head = cutLines(notices.slice(0, notices.length - tail.length), { tokens: Math.floor(room * 0.4), counter, text });
  return room < 0 ? [] : [...head, `… ${notices.length - head.length - tail.length} notices left out …`, ...tail];
}

/** Keeps the code and place; gives up details, then the excerpt, then the end of the message. */
export function cutError(error: RunError, { tokens, counter }: Cutting): RunError {
  const { details: _details, excerpt: _excerpt, ...short } = error;
  const candidates: readonly RunError[] = [error, { ...short, ...(error.excerpt === undefined ? {} : { excerpt: error.excerpt }) }, short];
  for (const candidate of candidates) if (counter.within(errorText(candidate), tokens) !== undefined) return candidate;
  const { tool: _tool, path: _path, ...bare } = short;
  const around = counter.count(errorText({ ...bare, code: bare.code.slice(0, 60), message: "" }));
  return { ...bare, code: bare.code.slice(0, 60), message: `${cutToTokens(error.message, Math.max(0, tokens - around - 2), { counter })}…` };
}

/** The first ones, whole; the last of them without what explains it, when only that fits. */
export function cutDiagnostics(diagnostics: readonly Diagnostic[], { tokens, counter }: Cutting): Diagnostic[] {
  const kept: Diagnostic[] = [];
  let left = tokens - 20;
  for (const [index, diagnostic] of diagnostics.entries()) {
    const shortened = fitDiagnostic(diagnostic, left, counter);
    if (shortened === undefined) {
      const rest = diagnostics.length - index;
      if (tokens > 20) kept.push({ severity: "advice", code: "MORE", message: `${rest} more left out`, line: diagnostic.line, column: diagnostic.column });
      break;
    }
    left -= counter.count(diagnosticText(shortened)) + 3;
    kept.push(shortened);
  }
  return kept;
}

function fitDiagnostic(diagnostic: Diagnostic, tokens: number, counter: TokenCounter): Diagnostic | undefined {
  const { declaration: _declaration, ...short } = diagnostic;
  const { excerpt: _excerpt, suggestions: _suggestions, ...shorter } = short;
  for (const candidate of [diagnostic, short, shorter]) if (counter.within(diagnosticText(candidate), tokens) !== undefined) return candidate;
  const around = counter.count(diagnosticText({ ...shorter, code: shorter.code.slice(0, 40), message: "" }));
  const room = tokens - around - 2;
  return room < 10 ? undefined : { ...shorter, code: shorter.code.slice(0, 40), message: `${cutToTokens(shorter.message, room, { counter })}…` };
}

/** Start and end of the text, and between them what was left out and where it is. */
export function cutText(text: readonly string[], { tokens, counter, keep }: KeptCutting): readonly string[] {
  const joined = text.join("\n");
  if (joined === "" || counter.within(joined, tokens) !== undefined) return text;
  const room = tokens - 45;
  const head = cutToTokens(joined, Math.floor(room * 0.7), { counter });
  const tail = cutToTokens(joined.slice(head.length), Math.floor(room * 0.3), { counter, from: "end" });
  return [head, `… ${joined.length - head.length - tail.length} characters left out, whole: ${keep()} …`, tail].filter((part) => part !== "");
}

/** First and last entries. Errors are not preferred: their order tells the story. */
export function cutConsole({ console: entries, consoleDroppedBytes }: Pick<RunResult, "console" | "consoleDroppedBytes">, { tokens, counter, keep }: KeptCutting): Pick<RunResult, "console" | "consoleDroppedBytes"> {
  const text = ({ level, text: printed }: GuestConsoleEntry): string => `[${level}] ${printed}`;
  const whole = cutLines(entries, { tokens, counter, text });
  if (whole.length === entries.length) return { console: entries, consoleDroppedBytes };
  const room = tokens - 45;
  const head = cutLines(entries, { tokens: Math.floor(room * 0.5), counter, text });
  const tail = cutLines(entries.slice(head.length).reverse(), { tokens: Math.floor(room * 0.4), counter, text }).reverse();
  const left = entries.slice(head.length, entries.length - tail.length);
  const first = head.length === 0 && left[0] !== undefined ? [{ level: left[0].level, text: `${cutToTokens(left[0].text, Math.floor(room * 0.4), { counter })}…` }] : head;
  const marker: GuestConsoleEntry = { level: "info", text: `… ${left.length} entries left out, whole: ${keep()} …` };
  return { console: [...first, marker, ...tail], consoleDroppedBytes };
}

/** Unknown effects first: they are what must be looked after. */
export function cutEffects(effects: NonNullable<RunResult["effects"]>, { tokens, counter }: Cutting): NonNullable<RunResult["effects"]> {
  let left = tokens;
  const cut = (items: readonly string[]): readonly string[] => {
    const kept = cutLines(items, { tokens: left - 10, counter, text: (item) => item });
    const shown = kept.length === items.length ? kept : [...kept, `and ${items.length - kept.length} more`];
    left -= shown.reduce((sum, item) => sum + counter.count(item) + 3, 0);
    return shown;
  };
  const unknown = cut(effects.unknown);
  const done = cut(effects.done);
  return { done, unknown, none: cut(effects.none) };
}

import type { Handle, RunResult, ShapedValue } from "@callgate/contract";
import { cutConsole, cutDiagnostics, cutEffects, cutError, cutLines, cutNotices, cutText } from "./cut-channels.ts";
import type { Cutting } from "./cut-channels.ts";
import { fitValue, modelJson } from "./fit-value.ts";
import type { KnownValue } from "./fit-value.ts";
import { reportSections } from "./report.ts";
import type { Channel } from "./report.ts";
import { shareBudget } from "./share-budget.ts";
import type { TokenCounter } from "./token-counter.ts";

/** A run's result before it is made to fit. */
export type RunDraft = Omit<RunResult, "value" | "tokens">;

export interface ShapeRequest {
  readonly draft: RunDraft;
  /** The value of the run and the handle it is kept under. */
  readonly value?: KnownValue & { readonly handle: Handle };
  /** At least `minBudgetTokens`. */
  readonly budgetTokens: number;
  readonly counter: TokenCounter;
  /** Keeps a channel that has to be cut, whole, and names it. Called at most once for each label. */
  keep(label: "text" | "console", value: unknown): Handle;
}

export type ShapedRun = Omit<RunResult, "tokens"> & { readonly resultTokens: number };

/** Enough for a status, an error code or the kind of a value, and a handle. */
export const minBudgetTokens = 100;

/** Shares of the channels that cannot be whole. What happened to the world comes before everything else. */
const weights: Readonly<Record<Channel, number>> = { error: 3, value: 6, text: 4, diagnostics: 4, effects: 30, console: 2, repairs: 1, notices: 1, artifacts: 1 };

/**
 * Makes a run's channels fit its budget together (DESIGN P15): all whole where they fit, else each cut to its share,
 * with the rest under a handle. The count is that of `runReport`, and it is never over the budget.
 */
export function shapeRun(request: ShapeRequest): ShapedRun {
  const { draft, value, budgetTokens, counter } = request;
  const json = value === undefined ? undefined : modelJson(value);
  const whole: Omit<RunResult, "tokens"> = { ...draft, ...(value === undefined ? {} : { value: { kind: "whole", value: value.value, handle: value.handle } }) };
  const sections = reportSections(whole, json);
  const resultTokens = counter.within(sections.map(({ text }) => text).join("\n"), budgetTokens);
  if (resultTokens !== undefined) return { ...whole, resultTokens };

  const keep = once(request.keep.bind(request));
  const known = value === undefined || json === undefined ? undefined : { ...value, json };
  const frameTokens = sections.reduce((sum, { channel, text }) => (channel === "frame" ? sum + counter.count(text) + 1 : sum), 0);
  const demands = sections.flatMap(({ channel, text }) => (channel === "frame" ? [] : [{ name: channel, tokens: (counter.within(text, budgetTokens) ?? budgetTokens) + 2, weight: weights[channel] }]));
  // Labels and joints are not exactly additive, so what does not fit is tried again with less.
  for (const part of [1, 0.9, 0.75, 0.6, 0.45, 0.3, 0.15]) {
    const shares = shareBudget(demands, Math.floor((budgetTokens - frameTokens) * part));
    const cut = new Set(demands.flatMap(({ name, tokens }) => ((shares.get(name) ?? 0) < tokens ? [name] : [])));
    const shaped = cutAll({ draft, known, shares, counter, keep, cut });
    const count = counter.within(reportSections(shaped).map(({ text }) => text).join("\n"), budgetTokens);
    if (count !== undefined) return { ...shaped, resultTokens: count };
  }
  return least(draft, known, counter);
}

interface CutRequest {
  readonly draft: RunDraft;
  readonly known: (KnownValue & { readonly handle: Handle }) | undefined;
  readonly shares: ReadonlyMap<Channel, number>;
  readonly counter: TokenCounter;
  readonly keep: ShapeRequest["keep"];
  /** The channels whose share is less than what they need. */
  readonly cut: ReadonlySet<Channel>;
}

function cutAll({ draft, known, shares, counter, keep, cut }: CutRequest): Omit<RunResult, "tokens"> {
  const cutting = (channel: Channel): Cutting => ({ tokens: cut.has(channel) ? Math.max(0, (shares.get(channel) ?? 0) - labelTokens[channel]) : Number.POSITIVE_INFINITY, counter });
  return {
    ...draft,
    ...(known === undefined ? {} : { value: shapeValue(known, cutting("value")) }),
    ...(draft.error === undefined ? {} : { error: cutError(draft.error, cutting("error")) }),
    text: cutText(draft.text, { ...cutting("text"), keep: () => keep("text", draft.text.join("\n")) }),
    ...cutConsole(draft, { ...cutting("console"), keep: () => keep("console", draft.console.map(({ level, text }) => `[${level}] ${text}`).join("\n")) }),
    diagnostics: cutDiagnostics(draft.diagnostics, cutting("diagnostics")),
    ...(draft.effects === undefined ? {} : { effects: cutEffects(draft.effects, cutting("effects")) }),
    repairs: cutLines(draft.repairs, { ...cutting("repairs"), text: ({ line, message }) => `line ${line}: ${message}` }),
    notices: cutNotices(draft.notices, cutting("notices")),
    artifacts: cutLines(draft.artifacts, { ...cutting("artifacts"), text: ({ name, mimeType, handle }) => `${name} (${mimeType}, 123456789 bytes) ${handle}` }),
  };
}

/** What the words around a channel cost in the report; of the value also its handle. */
const labelTokens: Readonly<Record<Channel, number>> = { error: 4, value: 40, text: 4, diagnostics: 4, effects: 16, console: 12, repairs: 4, notices: 4, artifacts: 4 };

/** A value for the model: whole, or an outline with its handle. */
export function shapeValue(known: KnownValue & { readonly handle: Handle }, { tokens, counter }: Cutting): ShapedValue {
  const fitted = fitValue(known, tokens, counter);
  if (fitted.kind === "whole") return { kind: "whole", value: known.value, handle: known.handle };
  return { kind: "outline", outline: fitted.outline, handle: known.handle, totalTokens: fitted.totalTokens };
}

/** What is always small enough: how it ended, and where the value is. */
function least(draft: RunDraft, known: CutRequest["known"], counter: TokenCounter): ShapedRun {
  const { error } = draft;
  const shaped: Omit<RunResult, "tokens"> = {
    ...draft,
    ...(known === undefined ? {} : { value: { kind: "outline", outline: null, handle: known.handle, totalTokens: counter.estimate(modelJson(known)) } }),
    ...(error === undefined ? {} : { error: { code: error.code.slice(0, 40), message: "(left out: over the token budget)", retryable: error.retryable } }),
    text: [],
    console: [],
    diagnostics: [],
    repairs: [],
    notices: [],
    artifacts: [],
    ...(draft.effects === undefined ? {} : { effects: { done: [], unknown: [], none: [] } }),
  };
  return { ...shaped, resultTokens: counter.count(reportSections(shaped).map(({ text }) => text).join("\n")) };
}

function once(keep: ShapeRequest["keep"]): ShapeRequest["keep"] {
  const kept = new Map<string, Handle>();
  return (label, value) => {
    let handle = kept.get(label);
    if (handle === undefined) kept.set(label, (handle = keep(label, value)));
    return handle;
  };
}

import type { ApprovalQuestion, JsonValue, RunUnreadable, ShownApproval } from "@callgate/contract";
import { approvedVersionText, reachText } from "@callgate/runtime";
import { originText } from "./origin-text.ts";
import { visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { unreadableText } from "./unreadable-runs.ts";

/** What is known of a question: from its summary, or in full from the record. */
export interface QuestionView {
  readonly question: ApprovalQuestion;
  /** In full. Absent: the summary stands for it, and it is said that it may be cut. */
  readonly shown?: ShownApproval;
  /** Its texts and values cannot be read here. */
  readonly unreadable?: RunUnreadable | undefined;
}

/** From this many items on, a list is also told as a whole. */
const manyItems = 20;

/**
 * A question as a person reads it, made from the operation alone. Text that a model wrote stands behind a bar, so that it
 * cannot pass for ours, and its invisible and acting characters are shown. Short values come first: what matters must not
 * stand behind pages of text.
 */
export function renderQuestion({ question, shown, unreadable = shown?.unreadable }: QuestionView, { colors }: Pick<Terminal, "colors">): string {
  const { principal, reason, ruleId, from, runId, callId, undoes, expiresAtMs, approvalId } = question;
  const isReview = question.isReview === true;
  const who = `${visible(principal.user)}${principal.agent === undefined ? "" : ` through ${visible(principal.agent)}`}`;
  return [
    colors.bold(headline(question, colors)),
    `  for        ${who}, ${isReview ? `run ${runId}` : `call ${undoes === undefined ? callId : `${runId}.${undoes}`}`}, question ${approvalId}`,
    ...(unreadable === undefined ? [] : [colors.red(`  ${unreadableText(unreadable)} It can be answered only where it can be read.`)]),
    `  why asked  ${visible(reason)} (rule ${ruleId})${from === undefined ? "" : `; to be answered by ${visible(from)}`}`,
    ...readBefore(question),
    ...reached(question),
    ...versionLines(question, shown),
    `  until      ${new Date(expiresAtMs).toISOString()}`,
    ...(shown?.description === undefined ? [] : [`  the tool   ${firstLine(shown.description)}`]),
    ...(shown?.isIntact === false ? [colors.red("  The record was changed since this was asked. Do not approve it.")] : []),
    isReview ? "  program, as the model wrote it" : `  arguments${undoes === undefined ? "" : " of the call that is undone"}, as the model wrote them${shown?.args === undefined ? " (shortened: callgate approvals show has all)" : ""}`,
    ...originLines(shown?.origins),
    ...(question.isResult === true ? resultLines({ question, ...(shown === undefined ? {} : { shown }) }) : isReview ? programLines(shown?.program ?? summaryProgram(question.argsSummary)) : argumentLines(shown?.args ?? question.argsSummary)),
    "",
  ].join("\n");
}

/** Labels that had reached the run, and what brought them: the call may be what a stranger's text asked for. */
function readBefore({ taint = [] }: ApprovalQuestion): readonly string[] {
  return taint.map(({ label, tool, runId, seq }) => `  after      reading ${runId === undefined ? `a resource or prompt of ${tool}` : `from ${tool} (${runId}.${seq})`}, whose answers are ${visible(label)}`);
}

/** What a program can call, by its check. Its calls are decided about, and asked about, one by one all the same. */
function reached({ isReview, argsSummary }: ApprovalQuestion): readonly string[] {
  const text = isReview === true ? reachText(argsSummary) : undefined;
  return text === undefined ? [] : [`  can call   ${text}`];
}

/** What differs since a version of the program was approved. */
function versionLines(question: ApprovalQuestion, shown: ShownApproval | undefined): readonly string[] {
  if (question.isReview !== true) return [];
  const diff = shown?.previous?.diff?.text ?? "";
  return [`  before     ${approvedVersionText(question, shown?.previous)}`, ...(diff === "" ? [] : diff.trimEnd().split("\n").map((line) => `${bar}${visible(line)}`))];
}

/** Where values of the arguments were seen before. What the program says itself needs no line. */
function originLines(origins: ShownApproval["origins"] = []): readonly string[] {
  const told = origins.filter((one) => one.origins.some(({ kind }) => kind !== "program"));
  return told.slice(0, maxOriginLines).map((one) => `  ${one.path === "" ? "the whole" : visible(one.path)} was seen in ${originText(one)}`).concat(told.length > maxOriginLines ? [`  … and ${told.length - maxOriginLines} more: callgate runs lineage shows all`] : []);
}

const maxOriginLines = 10;

/** The call, and what it gave: that is what is handed on or withheld. */
function resultLines({ question: { argsSummary }, shown }: QuestionView): readonly string[] {
  const summary = typeof argsSummary === "object" && argsSummary !== null && "result" in argsSummary ? argsSummary : { arguments: null, result: argsSummary };
  return [...argumentLines(shown?.args ?? summary["arguments"]), `  its result, as the tool gave it${shown?.result === undefined ? " (shortened: callgate approvals show has all)" : ""}`, ...argumentLines(shown?.result ?? summary["result"])];
}

function headline({ isReview, isResult, undoes, tool, effect, runId }: ApprovalQuestion, colors: Terminal["colors"]): string {
  if (isReview === true) return "? A program asks to run. A rule says that a person has to look at it first.";
  if (isResult === true) return `? ${tool} was called (${runId}). The program asks for its result: approving hands it on, denying withholds it. What the call did stays done.`;
  if (undoes !== undefined) return `? Undoing ${tool} (call ${runId}.${undoes}) asks to run: what that call did is taken back, it is not called again.`;
  return `? ${tool} asks to run. It ${effectWords(effect, colors)}.`;
}

function effectWords(effect: ApprovalQuestion["effect"], colors: Terminal["colors"]): string {
  switch (effect) {
    case "read":
      return "reads data";
    case "write":
      return "changes data";
    case "destructive":
      return colors.red("destroys data");
  }
}

function firstLine(text: string): string {
  return visible(text.split("\n", 1)[0] ?? "").slice(0, 200);
}

const bar = "  │ ";

/** The text of a program, its lines numbered. */
function programLines(program: string): readonly string[] {
  return program.split(/\r\n|\n|\r/).map((line, index) => `${bar}${String(index + 1).padStart(3)}  ${visible(line)}`);
}

function summaryProgram(summary: JsonValue): string {
  const program = typeof summary === "object" && summary !== null && "program" in summary ? summary.program : undefined;
  return typeof program === "string" ? program : "";
}

/** Arguments as JSON, short values first; what looks like something else is said. */
export function argumentLines(args: unknown): readonly string[] {
  const json = visible(JSON.stringify(shortFirst(args), undefined, 2) ?? "null");
  return [...aggregates(args, "").map((line) => `  ${line}`), ...warnings(args).map((line) => `  ! ${line}`), ...json.split("\n").map((line) => `${bar}${line}`)];
}

function shortFirst(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const size = (value: unknown): number => (typeof value === "object" && value !== null ? 1_000_000 : String(value).length > 100 ? 1_000 : 0);
  return Object.fromEntries(Object.entries(args).sort(([, a], [, b]) => size(a) - size(b)));
}

/** Long lists told as a whole: how many, and for each number the least, the middle and the greatest. */
function aggregates(value: unknown, place: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value)) return Object.entries(value).flatMap(([key, item]) => aggregates(item, `${place}/${visible(key)}`));
  const items: readonly unknown[] = value;
  if (items.length < manyItems) return items.flatMap((item, index) => aggregates(item, `${place}/${index}`));
  const keys = new Set(items.flatMap((item) => (typeof item === "object" && item !== null ? Object.keys(item) : [])));
  const numbers = [...keys].flatMap((key) => {
    const sorted = items.flatMap((item) => numberAt(item, key)).sort((a, b) => a - b);
    return sorted.length === 0 ? [] : [`${visible(key)} ${sorted[0]} … ${sorted[Math.floor(sorted.length / 2)]} … ${sorted.at(-1)}`];
  });
  return [`${place === "" ? "the list" : place}: ${items.length} items${numbers.length === 0 ? "" : ` (least … middle … greatest: ${numbers.join("; ")})`}`];
}

function numberAt(item: unknown, key: string): readonly number[] {
  const value: unknown = typeof item === "object" && item !== null ? (item as Readonly<Record<string, unknown>>)[key] : undefined;
  return typeof value === "number" ? [value] : [];
}

const latin = /\p{Script=Latin}/u;
const lookAlike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/** Words that mix alphabets look like words of one: a recipient that is not who it seems. */
function warnings(value: unknown): readonly string[] {
  const words = textsOf(value).flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  return [...new Set(words.filter((word) => latin.test(word) && lookAlike.test(word)))].slice(0, 10).map((word) => `"${visible(word)}" mixes alphabets: it is not what it looks like`);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsOf(item)]);
}

import type { AuditRow, EffectStatus, ExplanationPart, JournalEntry, JsonValue, RunExplanation, RunRecord } from "@callgate/contract";
import { sentence as closed } from "../lib/sentence.ts";
import { timeText } from "../lib/time-text.ts";
import { auditRowsOf } from "./audit-rows.ts";
import { placeOf, seqOf } from "./call-ids.ts";
import { waitText } from "./waits-text.ts";

type Sentence = RunExplanation["sentences"][number];

/** Characters of a value in a sentence. */
const maxValueChars = 200;
/** Writes told one by one; a sentence says how many more there are. */
const maxTold = 100;

const languages: Readonly<Record<string, string>> = { typescript: "TypeScript", javascript: "JavaScript", python: "Python", shell: "shell", node: "Node" };

/** A run in plain sentences, from its record alone. */
export function explainRun(run: RunRecord, entries: readonly JournalEntry[]): RunExplanation {
  const rows = auditRowsOf(run, entries);
  const calls = rows.filter(({ kind }) => kind === "call");
  const refused = calls.filter(isRefused);
  const undoing = calls.filter(({ undoes }) => undoes !== undefined);
  const writes = calls.filter((row) => row.effect !== "read" && row.undoes === undefined && !isRefused(row));
  return {
    runId: run.runId,
    sentences: [
      asked(run),
      ...pinned(entries),
      ...checked(run, entries),
      ...rows.filter(({ kind }) => kind === "review").map(reviewed),
      ...wentOn(entries, calls),
      ...readSentences(calls.filter((row) => row.effect === "read" && !isRefused(row))),
      ...bounded("wrote", writes.map(wrote), "calls that could change something"),
      ...bounded("refused", refused.map(refusal), "calls that were not allowed"),
      ...bounded("undone", undoing.map(undone), "calls that undo"),
      ...doubts(run, calls),
      ...ended(run, calls.length),
    ],
  };
}

function sentence(part: ExplanationPart, text: string): Sentence {
  return { part, text };
}

function bounded(part: ExplanationPart, all: readonly Sentence[], what: string): readonly Sentence[] {
  return all.length <= maxTold ? all : [...all.slice(0, maxTold), sentence(part, `There were ${all.length - maxTold} more ${what}; callgate audit ls lists them.`)];
}

function asked({ principal: { user, agent, task }, kind, language, startedAtMs, programDigest, replayOf, edits, lane }: RunRecord): Sentence {
  const who = agent === undefined ? user : `${agent}, on behalf of ${user},`;
  const what = kind === "call" ? "called a tool directly" : kind === "agent" ? "let a model work turn by turn; what that called are runs of their own" : kind === "rehearsal" ? `rehearsed ${withArticle(languages[language ?? ""] ?? language ?? "")}program: what it reads was read, what it would write was only recorded` : kind === "replay" ? `replayed run ${replayOf ?? ""} from its record; nothing was called and nothing was changed` : `ran ${withArticle(languages[language ?? ""] ?? language ?? "")}program${programDigest === undefined ? "" : ` (${programDigest.slice(0, 19)}…)`}`;
  const bounds = (kind === "program" || kind === "rehearsal") && lane === "query" ? " It was allowed to read only." : "";
  const answered = edits === undefined ? "" : ` with the answers of run ${edits.runId}: what that had called before was not called again`;
  return sentence("asked", `On ${timeText(startedAtMs)} ${who} ${what}${answered}${task === undefined ? "" : `, as part of the task "${task}"`}.${bounds}`);
}

function pinned(entries: readonly JournalEntry[]): readonly Sentence[] {
  return entries.flatMap((entry) => (entry.kind === "planned" ? [sentence("asked", `It was pinned to plan ${entry.planId}, which ${entry.by} had approved: no other write was to happen.`)] : []));
}

function withArticle(name: string): string {
  return name === "" ? "a " : `a ${name} `;
}

function checked({ kind }: RunRecord, entries: readonly JournalEntry[]): readonly Sentence[] {
  const report = entries.find((entry) => entry.kind === "checked");
  if (report?.kind !== "checked" || (kind !== "program" && kind !== "rehearsal")) return [];
  if (!report.ok) {
    const faults = report.diagnostics.filter(({ severity }) => severity === "error").length;
    return report.review === undefined ? [sentence("checked", `The program was refused before anything of it ran: the check found ${counted(faults, "fault")}.`)] : [];
  }
  const { reach } = report;
  if (reach === undefined) return [sentence("checked", "The program passed the check.")];
  const tools = reach.tools === "*" ? "any tool, for it chooses while it runs" : reach.tools.length === 0 ? "no tool" : reach.tools.join(", ");
  return [sentence("checked", `The program passed the check; it could call ${tools}.`)];
}

function reviewed({ decision, approval }: AuditRow): Sentence {
  const rule = `Rule ${decision?.ruleId ?? ""} asks a person to look at such a program`;
  if (decision?.kind === "ask") return sentence("checked", `${rule}; nobody has answered yet.`);
  return sentence("checked", `${rule}: ${approval?.by ?? "the policy"} ${decision?.kind === "allow" ? "let it run" : "did not let it run"}${because(decision?.reason)}.`);
}

function because(reason: string | undefined): string {
  return reason === undefined || reason === "" ? "" : ` (${reason.replace(/[.\s]+$/, "")})`;
}

/** What became of a run, and of its calls, when its process was lost. */
function wentOn(entries: readonly JournalEntry[], calls: readonly AuditRow[]): readonly Sentence[] {
  const losses = entries.filter((entry) => entry.kind === "resumed" && entry.reason === "taken_over").length;
  if (losses === 0) return [];
  const found = entries.flatMap((entry) => {
    const row = entry.kind === "call-resolved" ? calls.find(({ callId }) => seqOf(callId) === entry.seq) : undefined;
    if (entry.kind !== "call-resolved" || row === undefined || !(entry.how in foundTexts)) return [];
    return [sentence("resumed", `${numberOf(row)}: whether ${row.tool} took effect was not known then; ${foundTexts[entry.how as keyof typeof foundTexts](entry.effectStatus)}.`)];
  });
  const again = losses === 1 ? "once" : `${losses} times`;
  return [sentence("resumed", `Its process was lost ${again}, and another one took it over from its record.`), ...bounded("resumed", found, "calls that were in doubt")];
}

const foundTexts = {
  reconciled: (status: EffectStatus) => `asked afterwards, the tool said that it ${status === "done" ? "had" : status === "none" ? "had not" : "could not tell"}`,
  repeated: () => "it was performed again, which its tool declares harmless",
};

/** One sentence a tool. */
function readSentences(reads: readonly AuditRow[]): readonly Sentence[] {
  const byTool = Map.groupBy(reads, ({ tool }) => tool);
  return [...byTool].map(([tool, rows]) => {
    const failed = rows.filter(({ outcome }) => outcome !== "ok" && outcome !== "open").length;
    const cached = rows.filter(({ cached: isCached }) => isCached === true).length;
    const asides = [...(cached === 0 ? [] : [`${cached} from kept answers`]), ...(failed === 0 ? [] : [`${failed} without success`])];
    const [only] = rows;
    const subject = rows.length === 1 && only?.args !== undefined ? ` with ${valueText(only.args.summary)}` : "";
    return sentence("read", `It read with ${tool}${subject}${rows.length === 1 ? "" : ` ${rows.length} times`}${asides.length === 0 ? "" : ` (${asides.join(", ")})`}.`);
  });
}

function wrote(row: AuditRow): Sentence {
  const { args, performed, approval, decision, result, simulated } = row;
  const given = args === undefined ? "" : ` with ${valueText(args.summary)}`;
  const edited = performed === undefined ? "" : ` ${performed.by} changed this to ${valueText(performed.summary)}.`;
  return sentence("wrote", `${numberOf(row)}: ${simulated === undefined ? "it called" : "it was to call"} ${row.tool}${given}.${edited} ${closed(simulated === undefined || decision?.kind !== "ask" ? whyText(decision, approval) : `Rule ${decision.ruleId} would ask a person`)} ${closed(becameText(row))}${result === undefined ? "" : ` The answer was ${valueText(result.summary)}.`}`);
}

function whyText(decision: AuditRow["decision"], approval: AuditRow["approval"]): string {
  if (decision === undefined) return "Nothing was decided about it";
  if (decision.unobserved !== undefined) return `It was let through because the policy is not enforced; rule ${decision.ruleId} would have ${decision.unobserved === "ask" ? "asked a person" : "refused it"}`;
  if (approval?.grantId !== undefined) return `Rule ${decision.ruleId} asks a person, and ${approval.by ?? "a person"} had allowed such calls ahead (grant ${approval.grantId})`;
  if (approval?.planItem !== undefined) return `${approval.by ?? "A person"} had approved it with the plan of the run (item ${approval.planItem})`;
  if (decision.kind === "ask") return `Rule ${decision.ruleId} asks a person, and nobody has answered yet`;
  return approval?.by === undefined ? `Rule ${decision.ruleId} allows it` : `Rule ${decision.ruleId} asks a person, and ${approval.by} allowed it (question ${approval.approvalId ?? ""})`;
}

function becameText(row: AuditRow): string {
  const { outcome, effectStatus, settled, error, answeredBy, simulated, cached, release } = row;
  if (release !== undefined) return `${closed(becameText(withoutRelease(row)))} Rule ${release.ruleId} asks about results: ${release.by} ${release.released ? "handed it on" : "withheld it"}`;
  if (simulated !== undefined && outcome === "ok") return "It was rehearsed and not made: a placeholder answered";
  if (answeredBy !== undefined) return `The interceptor ${answeredBy} answered in place of the tool`;
  if (cached === true) return "The answer of an earlier call served it; nothing was done again";
  const failure = outcome === "ok" || outcome === "open" ? "" : `It ended ${outcome.replace("_", " ")}${error === undefined ? "" : ` (${error.code}: ${error.message})`}. `;
  const who = settled === undefined ? "" : settled.by === undefined ? ` This became known later (${settled.how})` : ` ${settled.by} said so later`;
  if (effectStatus === "done") return `${failure}The change took place.${who}`;
  if (effectStatus === "none") return outcome === "open" ? "It has not begun" : `${failure}Nothing was changed.${who}`;
  return `${failure}Whether anything was changed is not known`;
}

function refusal({ tool, args, decision, approval, callId }: AuditRow): Sentence {
  const who = approval?.by === undefined ? `rule ${decision?.ruleId ?? ""} refuses it` : `${approval.by} refused it`;
  return sentence("refused", `${numberOf({ callId })}: it wanted to call ${tool}${args === undefined ? "" : ` with ${valueText(args.summary)}`}, and was not allowed to: ${who}${because(decision?.reason)}. Nothing was changed.`);
}

function undone({ callId, undoes = "", tool, outcome, effectStatus }: AuditRow): Sentence {
  const what = `what ${tool} did in call ${placeOf(undoes)}`;
  return sentence("undone", outcome === "ok" ? `${numberOf({ callId })}: ${what} was undone.` : `${numberOf({ callId })}: ${what} could not be undone (${outcome.replace("_", " ")}; effect ${effectStatus}).`);
}

function doubts({ runId, status, waits }: RunRecord, calls: readonly AuditRow[]): readonly Sentence[] {
  const unknown = calls.filter(({ effectStatus, outcome }) => effectStatus === "unknown" && (outcome !== "open" || (status !== "running" && status !== "suspended")));
  const open = unknown.slice(0, maxTold).map(({ callId, tool }) => sentence("doubt", `In doubt: whether ${tool} (call ${placeOf(callId)}) took effect. Who knows can say so: callgate runs resolve ${callId} --happened or --did-not.`));
  return [...open, ...(status === "suspended" ? waits.slice(0, maxTold).map((wait) => sentence("doubt", `It waits for ${waitText(runId, wait)}.`)) : [])];
}

function ended({ status, isLost, error, startedAtMs, endedAtMs, callCount }: RunRecord, calls: number): readonly Sentence[] {
  const count = counted(Math.max(callCount, calls), "call");
  if (status === "running") return [sentence("ended", `It is still running; so far it made ${count}.`)];
  if (status === "suspended") return [sentence("ended", `It has not ended; so far it made ${count}.`)];
  const took = endedAtMs === undefined ? "" : ` after ${secondsText(endedAtMs - startedAtMs)}`;
  if (isLost === true) return [sentence("ended", `Its process was lost${took}, with ${count}. It has not ended: whoever takes it over goes on with it, or ends it.`)];
  const why = error === undefined ? "" : ` It says: ${closed(`${error.code}: ${error.message}`)}`;
  return [sentence("ended", `It ended ${statusTexts[status]}${took}, with ${count}.${why}`)];
}

const statusTexts: Readonly<Record<Exclude<RunRecord["status"], "running" | "suspended">, string>> = {
  completed: "as it was meant to",
  rejected: "before it began",
  failed: "with an error",
  limit: "because it reached a limit",
  crashed: "because its process was lost",
  cancelled: "because somebody cancelled it",
  diverged: "because it did not do the same as before",
};

function numberOf({ callId }: Pick<AuditRow, "callId">): string {
  return `Call ${placeOf(callId)}`;
}

function valueText(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= maxValueChars ? text : `${text.slice(0, maxValueChars).toWellFormed()}…`;
}

function counted(count: number, noun: string): string {
  return count === 0 ? `no ${noun}s` : `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function secondsText(ms: number): string {
  return ms < 1_000 ? "less than a second" : `${Math.round(ms / 1_000)} s`;
}

/** The row of the call itself: what it did does not depend on who got its result. */
function withoutRelease({ release: _release, error: _error, ...row }: AuditRow): AuditRow {
  return { ...row, outcome: "ok" };
}

/** It did not take place. A call whose result was withheld did. */
function isRefused({ outcome, error }: AuditRow): boolean {
  return outcome === "denied" && error?.code !== "RESULT_WITHHELD";
}

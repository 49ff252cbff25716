import { CallgateError } from "@callgate/contract";
import type { JournalEntry, Plan } from "@callgate/contract";
import type { RehearsalVariant } from "../broker/rehearsal.ts";
import { planItems, variantText } from "../plan/plan-items.ts";
import type { OtherRehearsal, RehearsedWrite } from "../plan/plan-items.ts";
import { programDigest, withDigest } from "../plan/plan-digest.ts";
import { createPlanVeil } from "./plan-veil.ts";
import { entriesWithin, guessedAnswers, rehearsedWrites } from "./rehearsed-writes.ts";
import type { RecordedRehearsal, RehearsedSeams } from "./rehearsed-writes.ts";

/** One with other placeholders. */
export interface VariedRehearsal extends RecordedRehearsal {
  readonly variant: RehearsalVariant;
}

export interface MakePlanOptions extends RehearsedSeams {
  readonly planId: string;
  readonly nowMs: number;
}

/**
 * The plan of a rehearsal, held against those with other placeholders. Errors: PLAN_INVALID where the rehearsal did not
 * come to its end: what it would have written then is not known.
 */
export function makePlan(options: MakePlanOptions, plain: RecordedRehearsal, others: readonly VariedRehearsal[]): Plan {
  const { run, entries } = plain;
  const { runId, programText, language, principal, lane, taskId, seed, policyVersion } = run;
  if (run.kind !== "rehearsal" || run.replayOf === undefined || run.edits !== undefined) throw invalid(runId, "it is no rehearsal that a plan is made of; callgate run --rehearse makes one");
  if (run.status !== "completed") throw invalid(runId, `the rehearsal ended as ${run.status}, so that nobody knows what it would have written`);
  if (programText === undefined || language === undefined) throw invalid(runId, "the text of its program is not kept any more (erased)");
  const writes = rehearsedWrites(options, plain);
  const held = others.map(({ variant, ...other }): OtherRehearsal => ({ variant, writes: rehearsedWrites(options, other), isWhole: other.run.status === "completed" }));
  return withDigest({
    form: "callgate-plan-1",
    planId: options.planId,
    madeAtMs: options.nowMs,
    rehearsal: { runId, against: run.replayOf, others: others.filter(({ variant }) => variant.kind !== "other").map((other) => other.run.runId) },
    program: { text: createPlanVeil(options, entries, entriesWithin(plain)).text(options.redactor.output(programText)), language, digest: programDigest(programText, language) },
    principal,
    lane,
    ...(taskId === undefined ? {} : { taskId }),
    seed,
    policyVersion,
    tools: Object.fromEntries([...writes, ...held.flatMap((other) => other.writes)].flatMap(withInner).map(({ tool, definitionDigest }) => [tool, definitionDigest])),
    items: planItems(writes, held),
    notes: notesOf(entries, others),
  });
}

function withInner(write: RehearsedWrite): readonly RehearsedWrite[] {
  return [write, ...(write.inner ?? []).flatMap(withInner)];
}

function notesOf(entries: readonly JournalEntry[], others: readonly VariedRehearsal[]): readonly string[] {
  const { unreal, opaque } = guessedAnswers(entries);
  const early = others.filter(({ run }) => run.status !== "completed");
  const ends = early.flatMap(({ variant }) => (variant.kind === "failing" ? [variant.tool] : []));
  return [
    ...early.filter(({ variant }) => variant.kind !== "failing").map(({ variant, run: { status, error } }) => `With ${variantText(variant)} in what its writes answer the program ended as ${status}${error === undefined ? "" : ` (${error.code}: ${error.message})`}${variant.kind === "other" ? ": what comes after that point is conditional" : ""}`),
    ...(unreal.length === 0 ? [] : [`Reads of what the writes would have made were answered by placeholders: ${unreal.join(", ")}`]),
    ...(opaque.length === 0 ? [] : [`Nothing is known of what these answer, so what the program makes of it is not seen: ${opaque.join(", ")}. An example, an output schema or a simulate of theirs would tell`]),
    ...(ends.length === 0 ? [] : [`The program ends where one of these fails: ${ends.join(", ")}. What would come after it does not happen then`]),
  ];
}

function invalid(runId: string, why: string): CallgateError {
  return new CallgateError("PLAN_INVALID", `There is no plan of run ${runId}: ${why}`, { details: { runId } });
}

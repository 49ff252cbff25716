import type { AuditRow, AuditValue, JournalEntry, RecordedValue, RunRecord } from "@callgate/contract";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { readonly kind: Kind }>;
type Settled = NonNullable<AuditRow["settled"]>;

/** What the entries say of one call, in the order in which they say it. */
interface CallEntries {
  readonly issued: Entry<"call-issued">;
  decided?: Entry<"call-decided">;
  asked?: Entry<"approval-asked">;
  held?: Entry<"result-held">;
  performed?: NonNullable<AuditRow["performed"]>;
  ended?: Entry<"call-ended">;
  settled?: { readonly effectStatus: AuditRow["effectStatus"]; readonly told: Settled };
}

/** The lines of the audit trail that the record of a run holds, in issue order; a review of its program comes first. */
export function auditRowsOf(run: RunRecord, entries: readonly JournalEntry[]): readonly AuditRow[] {
  const calls = new Map<number, CallEntries>();
  const plan = entries.find((entry) => entry.kind === "planned");
  for (const entry of entries) {
    if (entry.kind === "call-issued") calls.set(entry.seq, { issued: entry });
    const call = "seq" in entry ? calls.get(entry.seq) : undefined;
    if (call !== undefined) take(call, entry);
  }
  return [...reviewRows(run, entries), ...[...calls.values()].map((call) => callRow(run, call, plan?.kind === "planned" ? plan.approvalId : undefined))];
}

function take(call: CallEntries, entry: JournalEntry): void {
  if (entry.kind === "call-decided") call.decided = entry;
  if (entry.kind === "approval-asked" && entry.question.isResult !== true) call.asked = entry;
  if (entry.kind === "result-held") call.held = entry;
  if (entry.kind === "call-edited") call.performed = { ...valueOf(entry.args), by: entry.by };
  if (entry.kind === "call-intercepted" && entry.args !== undefined) call.performed = { ...valueOf(entry.args), by: entry.by };
  if (entry.kind === "call-late") call.settled = { effectStatus: entry.effectStatus, told: { how: "late" } };
  if (entry.kind === "call-resolved" && entry.how !== "refused") call.settled = { effectStatus: entry.effectStatus, told: { how: entry.how, ...(entry.by === undefined ? {} : { by: entry.by }) } };
  if (entry.kind === "call-ended") {
    call.ended = entry;
    delete call.settled;
  }
}

/** @param planApprovalId of the plan that the run is pinned to */
function callRow(run: RunRecord, call: CallEntries, planApprovalId: string | undefined): AuditRow {
  const { issued, decided, performed, ended, settled } = call;
  return {
    callId: issued.callId,
    kind: "call",
    ...headOf(run),
    tool: issued.tool,
    ...(issued.definitionDigest === undefined ? {} : { definitionDigest: issued.definitionDigest }),
    effect: issued.effect,
    args: valueOf(issued.args),
    ...(performed === undefined ? {} : { performed }),
    ...(decided === undefined ? {} : { decision: decisionOf(decided) }),
    ...approvalOf(call, planApprovalId),
    outcome: ended?.outcome ?? "open",
    effectStatus: settled?.effectStatus ?? ended?.effectStatus ?? effectWithoutEnd(run, call),
    atMs: issued.atMs,
    ...(ended === undefined ? {} : endOf(ended)),
    ...(issued.idempotencyKey === undefined ? {} : { idempotencyKey: issued.idempotencyKey }),
    ...(issued.compensates === undefined ? {} : { undoes: `${run.runId}.${issued.compensates}` }),
    ...(settled === undefined ? {} : { settled: settled.told }),
  };
}

function headOf({ runId, principal: { tenant, user, agent, task, roles }, programDigest }: RunRecord): Pick<AuditRow, "runId" | "principal" | "programDigest"> {
  return { runId, principal: { tenant, user, roles, ...(agent === undefined ? {} : { agent }), ...(task === undefined ? {} : { task }) }, ...(programDigest === undefined ? {} : { programDigest }) };
}

function approvalOf({ asked, decided }: CallEntries, planApprovalId: string | undefined): Pick<AuditRow, "approval"> {
  const { grantId, answeredBy, planItem } = decided ?? {};
  if (planItem !== undefined && asked === undefined) return { approval: { planItem, ...(planApprovalId === undefined ? {} : { approvalId: planApprovalId }), ...(answeredBy === undefined ? {} : { by: answeredBy }) } };
  if (asked === undefined && grantId === undefined) return {};
  return { approval: { ...(asked === undefined ? {} : { approvalId: asked.question.approvalId }), ...(grantId === undefined ? {} : { grantId }), ...(answeredBy === undefined ? {} : { by: answeredBy }) } };
}

function decisionOf({ decision, ruleId, reason, unobserved }: Entry<"call-decided">): NonNullable<AuditRow["decision"]> {
  return { kind: decision, ruleId, ...(reason === undefined ? {} : { reason }), ...(unobserved === undefined ? {} : { unobserved }) };
}

function endOf({ atMs, durationMs, attempts, cached, result, error, answeredBy, simulated, release }: Entry<"call-ended">): Partial<AuditRow> {
  return {
    endedAtMs: atMs,
    durationMs,
    attempts,
    cached,
    ...(result === undefined ? {} : { result: valueOf(result) }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(answeredBy === undefined ? {} : { answeredBy }),
    ...(simulated === undefined ? {} : { simulated }),
    ...(release === undefined ? {} : { release }),
  };
}

/** Nothing was changed by what is only read, was not let through, or waits for a person; of the rest nobody knows. */
function effectWithoutEnd({ status, kind }: RunRecord, { issued, decided, held }: CallEntries): AuditRow["effectStatus"] {
  if (held !== undefined) return held.effectStatus;
  if (kind === "rehearsal" || issued.effect === "read" || decided?.decision === "ask" || decided?.decision === "deny") return "none";
  return decided === undefined && (status === "running" || status === "suspended") ? "none" : "unknown";
}

function valueOf({ digest, summary }: RecordedValue): AuditValue {
  return { digest, summary };
}

/** A program that a rule asked about: who let it run, or did not; `open` while nobody has answered. */
function reviewRows(run: RunRecord, entries: readonly JournalEntry[]): readonly AuditRow[] {
  const asked = entries.find((entry): entry is Entry<"approval-asked"> => entry.kind === "approval-asked" && entry.question.isReview === true);
  const checked = entries.find((entry): entry is Entry<"checked"> => entry.kind === "checked" && entry.review !== undefined);
  const review = checked?.review;
  if (asked === undefined && review === undefined) return [];
  const approvalId = asked?.question.approvalId ?? review?.approvalId ?? "";
  const kind = review === undefined ? "ask" : review.approved ? "allow" : "deny";
  return [
    {
      callId: `${run.runId}.program`,
      kind: "review",
      ...headOf(run),
      tool: "program",
      ...(asked === undefined ? {} : { definitionDigest: asked.question.definitionDigest, args: { digest: asked.question.argsDigest, summary: asked.question.argsSummary } }),
      effect: "write",
      decision: { kind, ruleId: review?.ruleIds.join(" ") ?? asked?.question.ruleId ?? "", ...(review?.reason === undefined ? {} : { reason: review.reason }) },
      ...(approvalId === "" ? {} : { approval: { approvalId, ...(review === undefined ? {} : { by: review.by }) } }),
      outcome: kind === "ask" ? "open" : kind === "allow" ? "ok" : "denied",
      effectStatus: "none",
      atMs: asked?.atMs ?? checked?.atMs ?? run.startedAtMs,
      ...(checked === undefined ? {} : { endedAtMs: checked.atMs }),
    },
  ];
}

import { stringify } from "csv-stringify/sync";
import { jsonOf } from "./exported-row.ts";
import type { ExportedRow } from "./exported-row.ts";

type Cell = string | number | undefined;

/** Name of a column and what of a row stands in it. The order is part of the format: new ones come last. */
const columns: readonly (readonly [name: string, cell: (row: ExportedRow) => Cell])[] = [
  ["at", ({ atMs }) => timeText(atMs)],
  ["ended_at", ({ endedAtMs }) => (endedAtMs === undefined ? undefined : timeText(endedAtMs))],
  ["duration_ms", ({ durationMs }) => (durationMs === undefined ? undefined : Math.round(durationMs))],
  ["tenant", ({ principal }) => principal.tenant],
  ["user", ({ principal }) => principal.user],
  ["agent", ({ principal }) => principal.agent],
  ["task", ({ principal }) => principal.task],
  ["run", ({ runId }) => runId],
  ["call", ({ callId }) => callId],
  ["kind", ({ kind }) => kind],
  ["program_digest", ({ programDigest }) => programDigest],
  ["tool", ({ tool }) => tool],
  ["definition_digest", ({ definitionDigest }) => definitionDigest],
  ["effect", ({ effect }) => effect],
  ["arguments", ({ args }) => jsonOf(args?.summary)],
  ["arguments_digest", ({ args }) => args?.digest],
  ["performed", ({ performed }) => jsonOf(performed?.summary)],
  ["performed_by", ({ performed }) => performed?.by],
  ["decision", ({ decision }) => decision?.kind],
  ["rule", ({ decision }) => decision?.ruleId],
  ["approval", ({ approval }) => approval?.approvalId ?? approval?.grantId],
  ["approver", ({ approval }) => approval?.by],
  ["outcome", ({ outcome }) => outcome],
  ["effect_status", ({ effectStatus }) => effectStatus],
  ["error", ({ error }) => error?.code],
  ["result", ({ result }) => jsonOf(result?.summary)],
  ["result_digest", ({ result }) => result?.digest],
  ["attempts", ({ attempts }) => attempts],
  ["answered_by", ({ answeredBy, cached, simulated }) => answeredBy ?? (simulated === undefined ? undefined : "rehearsal") ?? (cached === true ? "cache" : undefined)],
  ["idempotency_key", ({ idempotencyKey }) => idempotencyKey],
  ["undoes", ({ undoes }) => undoes],
  ["settled", ({ settled }) => settled?.how],
  ["settled_by", ({ settled }) => settled?.by],
  ["release", ({ release }) => (release === undefined ? undefined : release.released ? "released" : "withheld")],
  ["release_rule", ({ release }) => release?.ruleId],
  ["released_by", ({ release }) => release?.by],
  ["release_approval", ({ release }) => release?.approvalId],
];

// A cell that a spreadsheet would take for a formula gets an apostrophe in front.
const options = { escape_formulas: true } as const;

export function csvHead(): string {
  return stringify([columns.map(([name]) => name)], options);
}

export function csvLine(row: ExportedRow): string {
  return stringify([columns.map(([, cell]) => cell(row) ?? "")], options);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

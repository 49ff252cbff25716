import { conventions } from "@callgate/runtime/telemetry";
import { version } from "../version.ts";
import { jsonOf } from "./exported-row.ts";
import type { ExportedRow } from "./exported-row.ts";

const { attributes: names } = conventions;

type AttributeValue = { readonly stringValue: string } | { readonly boolValue: boolean } | { readonly intValue: string } | { readonly doubleValue: number } | { readonly arrayValue: { readonly values: readonly AttributeValue[] } };

interface Attribute {
  readonly key: string;
  readonly value: AttributeValue;
}

/** One line of an OTLP file: what an exporter would have sent in one request. */
export function otelLine(rows: readonly ExportedRow[]): string {
  const resource = { attributes: attributesOf({ [names.service]: "callgate", [names.serviceVersion]: version }) };
  const logs = { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: "callgate.audit", version }, logRecords: rows.map(logRecord) }] }] };
  return `${JSON.stringify(logs)}\n`;
}

function logRecord(row: ExportedRow): object {
  const nanos = (ms: number): string => `${BigInt(Math.round(ms)) * 1_000_000n}`;
  return {
    timeUnixNano: nanos(row.atMs),
    observedTimeUnixNano: nanos(row.endedAtMs ?? row.atMs),
    ...severityOf(row),
    eventName: conventions.events.audit,
    body: { stringValue: `${row.tool}: ${row.outcome}, effect ${row.effectStatus}` },
    attributes: attributesOf(fieldsOf(row)),
  };
}

/** As OTLP numbers them: a doubt and a refusal are warnings, a failure is an error. */
function severityOf({ outcome, effectStatus }: ExportedRow): { readonly severityNumber: number; readonly severityText: string } {
  if (effectStatus === "unknown" || outcome === "denied" || outcome === "limit_exceeded") return { severityNumber: 13, severityText: "WARN" };
  return outcome === "ok" || outcome === "open" ? { severityNumber: 9, severityText: "INFO" } : { severityNumber: 17, severityText: "ERROR" };
}

type Field = string | number | boolean | readonly string[] | undefined;

function fieldsOf(row: ExportedRow): Readonly<Record<string, Field>> {
  const { own } = names;
  const { principal, args, performed, decision, approval, result, error, settled, release } = row;
  return {
    [names.operation]: conventions.toolOperation,
    [names.tool]: row.tool,
    [names.toolType]: conventions.toolType,
    [names.callId]: row.callId,
    [names.callArguments]: jsonOf(args?.summary),
    [names.callResult]: jsonOf(result?.summary),
    [names.agent]: principal.agent,
    [names.user]: principal.user,
    [names.userRoles]: principal.roles.length === 0 ? undefined : principal.roles,
    [names.errorType]: error?.code,
    [`${own}kind`]: row.kind,
    [names.tenant]: principal.tenant,
    [`${own}task`]: principal.task,
    [names.runId]: row.runId,
    [`${own}program.digest`]: row.programDigest,
    [`${own}tool.definition_digest`]: row.definitionDigest,
    [names.effect]: row.effect,
    [names.effectStatus]: row.effectStatus,
    [names.outcome]: row.outcome,
    [`${own}arguments.digest`]: args?.digest,
    [`${own}performed`]: jsonOf(performed?.summary),
    [`${own}performed.by`]: performed?.by,
    [names.decision]: decision?.kind,
    [names.ruleId]: decision?.ruleId,
    [`${own}decision.unobserved`]: decision?.unobserved,
    [`${own}approval.id`]: approval?.approvalId ?? approval?.grantId,
    [`${own}approval.by`]: approval?.by,
    [`${own}result.digest`]: result?.digest,
    [`${own}duration_ms`]: row.durationMs,
    [`${own}attempts`]: row.attempts,
    [names.cached]: row.cached,
    [`${own}answered_by`]: row.answeredBy,
    [`${own}simulated`]: row.simulated,
    [`${own}idempotency_key`]: row.idempotencyKey,
    [`${own}undoes`]: row.undoes,
    [`${own}settled`]: settled?.how,
    [`${own}settled.by`]: settled?.by,
    [`${own}release.released`]: release?.released,
    [`${own}release.rule_id`]: release?.ruleId,
    [`${own}release.by`]: release?.by,
    [`${own}release.approval.id`]: release?.approvalId,
  };
}

function attributesOf(fields: Readonly<Record<string, Field>>): readonly Attribute[] {
  return Object.entries(fields).flatMap(([key, field]) => (field === undefined ? [] : [{ key, value: valueOf(field) }]));
}

function valueOf(field: NonNullable<Field>): AttributeValue {
  if (typeof field === "string") return { stringValue: field };
  if (typeof field === "boolean") return { boolValue: field };
  if (typeof field === "number") return Number.isInteger(field) ? { intValue: String(field) } : { doubleValue: field };
  return { arrayValue: { values: field.map((text) => ({ stringValue: text })) } };
}

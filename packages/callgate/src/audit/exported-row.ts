import type { AuditRow } from "@callgate/contract";

/** A row as it leaves the journal: without what is sealed there, for no erase would reach it. */
export type ExportedRow = Omit<AuditRow, "decision" | "error"> & {
  readonly decision?: Omit<NonNullable<AuditRow["decision"]>, "reason">;
  readonly error?: Pick<NonNullable<AuditRow["error"]>, "code">;
};

/** A value as its JSON in one cell or attribute. */
export function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

export function exportedRow({ decision, error, ...row }: AuditRow): ExportedRow {
  const { reason: _sealed, ...decided } = decision ?? {};
  return { ...row, ...("kind" in decided ? { decision: decided } : {}), ...(error === undefined ? {} : { error: { code: error.code } }) };
}

import type { AuditFinding } from "@callgate/contract";

/** Gathers what verification finds. */
export interface Report {
  readonly findings: readonly AuditFinding[];
  readonly count: number;
  add(finding: AuditFinding): void;
}

/** So many are kept; of more only the number is. */
const KEPT = 100;

export function createReport(kept = KEPT): Report {
  const findings: AuditFinding[] = [];
  let count = 0;
  return {
    findings,
    get count() {
      return count;
    },
    add(finding) {
      count += 1;
      if (findings.length < kept) findings.push(finding);
    },
  };
}

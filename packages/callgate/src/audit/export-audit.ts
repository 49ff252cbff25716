import type { AuditRow } from "@callgate/contract";
import type { ExportedRow } from "./exported-row.ts";
import { exportedRow } from "./exported-row.ts";

/** `otel`: OpenTelemetry logs as an OTLP file, one request a line. */
export const auditFormats = ["jsonl", "csv", "otel"] as const;

export type AuditFormat = (typeof auditFormats)[number];

/** Records in one request of an OTLP file. */
const batchRows = 200;

/**
 * Rows of `gate.audit.rows()` as text, whole lines at a time and no more in memory than one batch. What the journal keeps
 * sealed (reasons, messages of errors) is left out: no erase would reach it.
 */
export async function* exportAudit(rows: AsyncIterable<AuditRow>, format: AuditFormat): AsyncGenerator<string> {
  switch (format) {
    case "jsonl":
      for await (const row of rows) yield `${JSON.stringify(exportedRow(row))}\n`;
      return;
    case "csv": {
      // A parser of CSV is nothing a gate needs: it is loaded by who exports.
      const { csvHead, csvLine } = await import("./audit-csv.ts");
      yield csvHead();
      for await (const row of rows) yield csvLine(exportedRow(row));
      return;
    }
    case "otel": {
      const { otelLine } = await import("./audit-otel.ts");
      for await (const batch of batched(rows)) yield otelLine(batch);
    }
  }
}

async function* batched(rows: AsyncIterable<AuditRow>): AsyncGenerator<readonly ExportedRow[]> {
  let batch: ExportedRow[] = [];
  for await (const row of rows) {
    batch.push(exportedRow(row));
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

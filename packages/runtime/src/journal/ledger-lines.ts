import type { LedgerLine } from "@callgate/contract";
import type { Row } from "./columns.ts";
import { eventsOf } from "./ledger-book.ts";

const PAGE_LINES = 500;

/** What people did to the record, newest first: beginnings and ends of runs are left out. `page` gives lines before a position. */
export async function linesOf(page: (before: number, count: number) => Promise<readonly Row[]> | readonly Row[], limit: number): Promise<readonly LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; lines.length < limit; ) {
    const rows = await page(before, PAGE_LINES);
    for (const row of rows) for (const event of (eventsOf(row) ?? []).toReversed()) if (event.kind !== "run-began" && event.kind !== "run-ended") lines.push({ atMs: Number(row["at_ms"]), event });
    if (rows.length < PAGE_LINES) break;
    before = Number(rows.at(-1)?.["position"]);
  }
  return lines.slice(0, limit);
}

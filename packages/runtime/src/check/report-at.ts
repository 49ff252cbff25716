import type { CheckReport, Diagnostic } from "@callgate/contract";

/** Where an extracted text stood. */
interface Place {
  /** Line of the model's text on which the extracted text starts, from 1. */
  readonly firstLine: number;
  /** Columns cut off the start of each of its lines. */
  readonly cutColumns: readonly number[];
}

type Position = { readonly line: number; readonly column: number };

function moved<Item extends Position>(item: Item, { firstLine, cutColumns }: Place): Item {
  return { ...item, line: item.line + firstLine - 1, column: item.column + (cutColumns[item.line - 1] ?? 0) };
}

/** Turns positions in an extracted text into positions in the text it was taken from. */
export const reportAt = {
  diagnostic: (diagnostic: Diagnostic, place: Place): Diagnostic => moved(diagnostic, place),

  report(report: CheckReport, place: Place): CheckReport {
    const diagnostics = report.diagnostics.map((item) => moved(item, place));
    const repairs = report.repairs.map((item) => moved(item, place));
    if (report.kind === "rejected") return { ...report, diagnostics, repairs };
    const lineOffset = report.lineOffset + place.firstLine - 1;
    return { ...report, diagnostics, repairs, lineOffset, shiftedLines: shiftLines(report, place) };
  },
};

/** Every line of `code` whose columns are not those of the model's text. */
function shiftLines(report: Extract<CheckReport, { kind: "ok" }>, { cutColumns }: Place): Extract<CheckReport, { kind: "ok" }>["shiftedLines"] {
  const byLine = new Map(report.shiftedLines.map(({ line, columns }) => [line, columns]));
  for (const [index, cut] of cutColumns.entries()) {
    const line = index + 1 - report.lineOffset;
    if (cut !== 0) byLine.set(line, (byLine.get(line) ?? 0) + cut);
  }
  return [...byLine].map(([line, columns]) => ({ line, columns })).sort((a, b) => a.line - b.line);
}

/**
 * A position of the running program in the model's text.
 *
 * @param position line and column of `report.code`, both from 1, as an engine reports them
 */
export function positionInModelText(report: Extract<CheckReport, { kind: "ok" }>, position: Position): Position {
  const columns = report.shiftedLines.find(({ line }) => line === position.line)?.columns ?? 0;
  return { line: Math.max(1, position.line + report.lineOffset), column: Math.max(1, position.column + columns) };
}

import { parse } from "csv-parse/sync";
import { decodeText } from "./decode-text.ts";
import type { DocumentText, Section } from "./document-text.ts";
import { Unreadable } from "./document-text.ts";

/** Rows of one passage: so many that a row is found among its like, and its names are near. */
const rowsTogether = 20;

/** A table: each row is a line that names its columns, so that a passage alone says what its values are. */
export function csvText(bytes: Uint8Array): DocumentText {
  const text = decodeText(bytes);
  const rows = rowsOf(text);
  const [names = [], ...records] = rows;
  const sections: Section[] = [];
  for (let from = 0; from < records.length; from += rowsTogether) {
    const some = records.slice(from, from + rowsTogether);
    sections.push({ heading: `Rows ${from + 1} to ${from + some.length}`, text: some.map((record) => rowText(names, record)).join("\n") });
  }
  return { sections: sections.length === 0 ? [{ text: names.join(" | ") }] : sections };
}

function rowsOf(text: string): readonly (readonly string[])[] {
  try {
    return parse(text, { bom: true, delimiter: delimiterOf(text), relax_column_count: true, relax_quotes: true, skip_empty_lines: true });
  } catch (fault) {
    throw new Unreadable(`it is no table of values (${fault instanceof Error ? fault.message.slice(0, 200) : "unknown"})`);
  }
}

function delimiterOf(text: string): string {
  const [first = ""] = text.split(/[\r\n]/, 1);
  const counts = [",", ";", "\t", "|"].map((mark) => ({ mark, count: first.split(mark).length }));
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).mark;
}

function rowText(names: readonly string[], record: readonly string[]): string {
  return record.flatMap((value, column) => (value.trim() === "" ? [] : [`${names[column]?.trim() || `column ${column + 1}`}: ${value.trim().replaceAll(/\s+/g, " ")}`])).join(" | ");
}

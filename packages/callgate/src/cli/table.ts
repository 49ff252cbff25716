import Table from "cli-table3";
import type { Colors } from "./terminal.ts";

export interface TableOptions {
  readonly columns: number;
  readonly colors: Colors;
  /** Index of the column that gives way when the terminal is narrow. Default: the last. */
  readonly flexible?: number;
}

/** Rows under a head line, without frames, cut to the terminal. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[], options: TableOptions): string {
  const flexible = options.flexible ?? head.length - 1;
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => (row[index] ?? "").length)) + 2);
  const others = widths.reduce((sum, width, index) => (index === flexible ? sum : sum + width), 0);
  widths[flexible] = Math.max(12, Math.min(widths[flexible] ?? 0, options.columns - others));
  const none = { top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" };
  const bare = { ...none, left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "" };
  const table = new Table({
    head: head.map((title) => options.colors.dim(title)),
    colWidths: widths,
    chars: bare,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  table.push(...rows.map((row) => [...row]));
  return `${table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

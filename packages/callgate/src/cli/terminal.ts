import { stripVTControlCharacters } from "node:util";
import { visible } from "@callgate/runtime/text";
import picocolors from "picocolors";

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Where a command writes. Data goes to `out` and nowhere else; everything for the eye goes to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** A value of a program or tool to `out`: as it is for a pipe or file, and harmless (`visible`) where a person's terminal would obey it. */
  value(text: string): void;
  /** True when a person watches `err`. */
  readonly interactive: boolean;
  readonly colors: Colors;
  /** Colours for `out`: none unless it is a terminal. */
  readonly outColors: Colors;
  /** Columns of the terminal; 100 where there is none. */
  readonly columns: number;
  /** Columns that data on `out` is cut to: no bound where `out` is a pipe or file, whose reader wants all of it. */
  readonly outColumns: number;
}

/** The terminal of this process. NO_COLOR and FORCE_COLOR are honoured. */
export function processTerminal(): Terminal {
  const colorful = (stream: NodeJS.WriteStream) => process.env["NO_COLOR"] === undefined && (process.env["FORCE_COLOR"] !== undefined || stream.isTTY);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    value: (text) => void process.stdout.write(process.stdout.isTTY ? visible(text) : text),
    // A terminal that does not know its size (0 columns) cannot be drawn over: a spinner would take a line for endless many.
    interactive: process.stderr.isTTY && process.stderr.columns > 0 && process.env["CI"] === undefined,
    colors: picocolors.createColors(colorful(process.stderr)),
    outColors: picocolors.createColors(colorful(process.stdout)),
    columns: process.stderr.columns || process.stdout.columns || 100,
    outColumns: process.stdout.isTTY ? process.stdout.columns || 100 : Number.POSITIVE_INFINITY,
  };
}

export { visible };

/** Cuts one line to a width, colours aside. */
export function cut(line: string, width: number): string {
  return stripVTControlCharacters(line).length <= width ? line : `${Array.from(stripVTControlCharacters(line)).slice(0, Math.max(1, width - 1)).join("")}…`;
}

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const hourMs = 3_600_000;

/** `83 ms`, `4.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < hourMs) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  if (ms < 48 * hourMs) return `${Math.floor(ms / hourMs)} h ${Math.floor((ms % hourMs) / 60_000)} min`;
  return `${Math.floor(ms / (24 * hourMs))} d ${Math.floor((ms % (24 * hourMs)) / hourMs)} h`;
}

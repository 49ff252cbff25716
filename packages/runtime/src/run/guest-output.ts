import type { ArtifactInput, GuestConsoleEntry, GuestOutput } from "@callgate/contract";
import type { RunScope } from "./run-scope.ts";

/** What a program said while it ran. Secrets are taken out before anyone sees it. */
export interface OutputSink {
  take(output: readonly GuestOutput[]): void;
  readonly text: readonly string[];
  readonly console: readonly GuestConsoleEntry[];
  readonly droppedBytes: number;
  /** Files the program made; the driver bounds them. */
  readonly artifacts: readonly ArtifactInput[];
}

export interface OutputOptions {
  /** `text()` is part of the result: more than `resultBytes` of it ends the run. */
  readonly textTooLarge: () => void;
}

/** Messages of `progress()` that are kept in the record; all are told as they come. */
const maxProgressKept = 500;
const maxProgressChars = 1_000;

export function createOutputSink(scope: RunScope, { textTooLarge }: OutputOptions): OutputSink {
  const { seams, limits, log } = scope;
  const printer = createPrinter(scope);
  const progress = createProgress(scope);
  const text: string[] = [];
  const artifacts: ArtifactInput[] = [];
  let textBytes = 0;

  function say(raw: string): void {
    textBytes += Buffer.byteLength(raw);
    if (textBytes > limits.resultBytes) return textTooLarge();
    const clean = seams.redactor.text(raw);
    text.push(clean);
    log.add({ kind: "text", atMs: seams.clock.now(), text: clean });
  }

  return {
    take(output) {
      // In the order in which the program said it; console lines that follow each other go together.
      let lines: GuestConsoleEntry[] = [];
      const flush = (): void => {
        printer.print(lines);
        lines = [];
      };
      for (const said of output) {
        if (said.kind === "console") {
          lines.push(said.entry);
          continue;
        }
        flush();
        if (said.kind === "text") say(said.text);
        else if (said.kind === "progress") progress(said.message, said.fraction);
        else if (said.kind === "artifact") artifacts.push(said.artifact);
        else if (said.kind === "console-dropped") printer.drop(said.droppedBytes);
      }
      flush();
    },
    text,
    artifacts,
    console: printer.entries,
    get droppedBytes() {
      return printer.droppedBytes;
    },
  };
}

interface Printer {
  print(printed: readonly GuestConsoleEntry[]): void;
  drop(bytes: number): void;
  readonly entries: readonly GuestConsoleEntry[];
  readonly droppedBytes: number;
}

/** Console output up to `consoleBytes`; what is beyond is counted. */
function createPrinter({ seams, limits, log, runId, principal }: RunScope): Printer {
  const entries: GuestConsoleEntry[] = [];
  let bytesKept = 0;
  let droppedBytes = 0;

  function drop(bytes: number): void {
    droppedBytes += bytes;
    log.add({ kind: "console", atMs: seams.clock.now(), entries: [], droppedBytes: bytes });
  }

  return {
    print(printed) {
      const kept: GuestConsoleEntry[] = [];
      let over = 0;
      for (const { level, text: raw } of printed) {
        const bytes = Buffer.byteLength(raw);
        if (bytesKept + bytes > limits.consoleBytes) {
          over += bytes;
          continue;
        }
        bytesKept += bytes;
        kept.push({ level, text: seams.redactor.text(raw) });
      }
      if (over > 0) drop(over);
      if (kept.length === 0) return;
      entries.push(...kept);
      const atMs = seams.clock.now();
      log.add({ kind: "console", atMs, entries: kept, droppedBytes: 0 });
      seams.emit({ kind: "run-printed", atMs, runId, principal, entries: kept });
    },
    drop,
    entries,
    get droppedBytes() {
      return droppedBytes;
    },
  };
}

function createProgress({ seams, log, runId, principal }: RunScope): (message: string, fraction: number | undefined) => void {
  let kept = 0;
  return (message, fraction) => {
    const bounded = fraction === undefined || Number.isNaN(fraction) ? {} : { fraction: Math.min(1, Math.max(0, fraction)) };
    const said = { atMs: seams.clock.now(), message: seams.redactor.text(message.slice(0, maxProgressChars)), ...bounded };
    seams.emit({ kind: "run-progressed", runId, principal, ...said });
    kept += 1;
    if (kept <= maxProgressKept) log.add({ kind: "progress", ...said });
  };
}

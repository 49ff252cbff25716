import type { GuestConsoleEntry, GuestOutput } from "@callgate/contract";
import type { RunScope } from "./run-scope.ts";

/** What a program said while it ran. Secrets are taken out before anyone sees it. */
export interface OutputSink {
  take(output: readonly GuestOutput[]): void;
  readonly text: readonly string[];
  readonly console: readonly GuestConsoleEntry[];
  readonly droppedBytes: number;
}

/** Messages of `progress()` that are kept in the record; all are told as they come. */
const maxProgressKept = 500;
const maxProgressChars = 1_000;

export interface OutputOptions {
  /** `text()` is part of the result: more than `resultBytes` of it ends the run. */
  textTooLarge(): void;
}

export function createOutputSink(scope: RunScope, { textTooLarge }: OutputOptions): OutputSink {
  const { seams, limits, log, runId, principal } = scope;
  const text: string[] = [];
  const entries: GuestConsoleEntry[] = [];
  let consoleBytes = 0;
  let droppedBytes = 0;
  let textBytes = 0;
  let progressKept = 0;

  function print(printed: readonly GuestConsoleEntry[]): void {
    const kept: GuestConsoleEntry[] = [];
    for (const { level, text: raw } of printed) {
      const bytes = Buffer.byteLength(raw);
      if (consoleBytes + bytes > limits.consoleBytes) {
        droppedBytes += bytes;
        continue;
      }
      consoleBytes += bytes;
      kept.push({ level, text: seams.redactor.text(raw) });
    }
    if (kept.length === 0) return;
    entries.push(...kept);
    const atMs = seams.clock.now();
    log.add({ kind: "console", atMs, entries: kept, droppedBytes: 0 });
    seams.emit({ kind: "run-printed", atMs, runId, principal, entries: kept });
  }

  function say(raw: string): void {
    textBytes += Buffer.byteLength(raw);
    if (textBytes > limits.resultBytes) return textTooLarge();
    const clean = seams.redactor.text(raw);
    text.push(clean);
    log.add({ kind: "text", atMs: seams.clock.now(), text: clean });
  }

  function progress(raw: string, fraction: number | undefined): void {
    const said = { atMs: seams.clock.now(), message: seams.redactor.text(raw.slice(0, maxProgressChars)), ...(fraction === undefined ? {} : { fraction: Math.min(1, Math.max(0, fraction)) }) };
    seams.emit({ kind: "run-progressed", runId, principal, ...said });
    progressKept += 1;
    if (progressKept <= maxProgressKept) log.add({ kind: "progress", ...said });
  }

  function drop(bytes: number): void {
    droppedBytes += bytes;
    log.add({ kind: "console", atMs: seams.clock.now(), entries: [], droppedBytes: bytes });
  }

  return {
    take(output) {
      print(output.flatMap((said) => (said.kind === "console" ? [said.entry] : [])));
      for (const said of output) {
        switch (said.kind) {
          case "console":
            break;
          case "text":
            say(said.text);
            break;
          case "progress":
            progress(said.message, said.fraction);
            break;
          case "console-dropped":
            drop(said.droppedBytes);
            break;
        }
      }
    },
    text,
    console: entries,
    get droppedBytes() {
      return droppedBytes;
    },
  };
}

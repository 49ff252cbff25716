import type { ArtifactInput, GuestConnection, GuestConsoleEntry, GuestOutput } from "@callgate/contract";
import type { ResumePoint } from "./resume-point.ts";
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
  /** How much of it is on record from earlier stretches of the run, which say the same again. */
  readonly before?: ResumePoint["said"];
  /** Hears console output as it comes, once it is clean. */
  readonly onOutput?: ((entries: readonly GuestConsoleEntry[]) => void) | undefined;
}

/** Messages of `progress()` that are kept in the record; all are told as they come. */
const maxProgressKept = 500;
const maxProgressChars = 1_000;

const nothing: ResumePoint["said"] = { console: 0, text: 0, progress: 0, droppedBytes: 0 };

export function createOutputSink(scope: RunScope, { textTooLarge, onOutput, before = nothing }: OutputOptions): OutputSink {
  const { seams, limits, log } = scope;
  const printer = createPrinter(scope, before, onOutput);
  const progress = createProgress(scope, before.progress);
  const text: string[] = [];
  const artifacts: ArtifactInput[] = [];
  let textBytes = 0;

  function say(raw: string): void {
    textBytes += Buffer.byteLength(raw);
    if (textBytes > limits.resultBytes) return textTooLarge();
    const clean = seams.redactor.output(raw);
    text.push(clean);
    if (text.length > before.text) log.add({ kind: "text", atMs: seams.clock.now(), text: clean });
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
        else if (said.kind === "connection") connected(scope, said.connection);
        else if (said.kind === "artifact") artifacts.push(said.artifact);
        else if (said.kind === "console-dropped") printer.drop(said.droppedBytes);
      }
      flush();
      // Before the calls that were issued after it.
      log.flush();
    },
    text,
    artifacts,
    console: printer.entries,
    get droppedBytes() {
      return printer.droppedBytes;
    },
  };
}

function connected({ seams, log, runId, principal }: RunScope, { host, ...rest }: GuestConnection): void {
  const said = { atMs: seams.clock.now(), connection: { ...rest, host: seams.redactor.text(host) } };
  seams.emit({ kind: "run-connected", runId, principal, ...said });
  log.add({ kind: "connection", ...said });
}

interface Printer {
  print(printed: readonly GuestConsoleEntry[]): void;
  drop(bytes: number): void;
  readonly entries: readonly GuestConsoleEntry[];
  readonly droppedBytes: number;
}

/** Console output up to `consoleBytes`; what is beyond is counted. */
function createPrinter({ seams, limits, log, runId, principal, sensitive }: RunScope, before: ResumePoint["said"], onOutput: OutputOptions["onOutput"]): Printer {
  const entries: GuestConsoleEntry[] = [];
  let bytesKept = 0;
  let droppedBytes = 0;

  /** Without what tools of the run called sensitive. */
  function forEvents(text: string): string {
    return seams.redactor.text([...sensitive].sort((a, b) => b.length - a.length).reduce((left, value) => left.replaceAll(value, "[sensitive]"), text));
  }

  function drop(bytes: number): void {
    droppedBytes += bytes;
    if (droppedBytes > before.droppedBytes) log.add({ kind: "console", atMs: seams.clock.now(), entries: [], droppedBytes: bytes });
  }

  return {
    print(printed) {
      const kept: GuestConsoleEntry[] = [];
      let over = 0;
      for (const entry of printed) {
        const { text: raw } = entry;
        const bytes = Buffer.byteLength(raw);
        if (bytesKept + bytes > limits.consoleBytes) {
          over += bytes;
          continue;
        }
        bytesKept += bytes;
        kept.push({ ...entry, text: seams.redactor.output(raw) });
      }
      if (over > 0) drop(over);
      if (kept.length === 0) return;
      const fresh = kept.slice(Math.max(0, before.console - entries.length));
      entries.push(...kept);
      if (fresh.length === 0) return;
      const atMs = seams.clock.now();
      log.add({ kind: "console", atMs, entries: fresh, droppedBytes: 0 });
      // The record of it is sealed; who hears events may write them anywhere.
      seams.emit({ kind: "run-printed", atMs, runId, principal, entries: fresh.map((entry) => ({ ...entry, text: forEvents(entry.text) })) });
      onOutput?.(fresh);
    },
    drop,
    entries,
    get droppedBytes() {
      return droppedBytes;
    },
  };
}

function createProgress({ seams, log, runId, principal }: RunScope, before: number): (message: string, fraction: number | undefined) => void {
  let kept = 0;
  return (message, fraction) => {
    kept += 1;
    if (kept <= before) return;
    const bounded = fraction === undefined || Number.isNaN(fraction) ? {} : { fraction: Math.min(1, Math.max(0, fraction)) };
    const said = { atMs: seams.clock.now(), message: seams.redactor.text(message.slice(0, maxProgressChars)), ...bounded };
    seams.emit({ kind: "run-progressed", runId, principal, ...said });
    if (kept <= maxProgressKept) log.add({ kind: "progress", ...said });
  };
}

import type { CallSummary, Diagnostic, Handle, ProgramLanguage, RunError, RunResult, RunStatus, ShapedValue } from "@callgate/contract";

/** A piece of code to execute. */
export interface CodeBlock {
  /** A language of the executor, by any of its usual names: `python`, `py`, `bash`, `ts`. */
  readonly language: string;
  readonly code: string;
  /**
   * Where the code is kept in the working folder, relative to it, e.g. `src/report.py`. Without it, a first line
   * `# filename: NAME` or `// filename: NAME` says the same.
   */
  readonly filename?: string;
}

/** A block as it stood in a Markdown text. */
export interface MarkdownBlock extends CodeBlock {
  readonly language: ProgramLanguage;
  /** Line of the code's first line in the text, from 1. */
  readonly line: number;
  /** True when nothing closed the block: the text was probably cut off. */
  readonly unclosed: boolean;
}

/** A piece of what was printed, in the order in which it came. */
export interface OutputPart {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** What was printed, up to the run's `consoleBytes`: the beginning and the end. */
export interface PrintedOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in the order in which it came. */
  readonly output: readonly OutputPart[];
  readonly truncated: boolean;
  /** UTF-8 bytes left out between beginning and end; a mark in the texts says so where they are missing. */
  readonly droppedBytes: number;
}

/** How a block ended; docs/guide/code-execution.md has the table of exit codes. */
export interface BlockResult extends PrintedOutput {
  readonly language: string;
  /** Where the code was kept, relative to the working folder. */
  readonly filename?: string;
  readonly status: RunStatus;
  readonly exitCode: number;
  /** The signal that ended the program. */
  readonly signal?: string;
  /** Its time was over: `timeoutMs`, or `limits.cpuMs`. */
  readonly timedOut: boolean;
  /** The last expression, or what `return` gave. */
  readonly value?: ShapedValue;
  readonly error?: RunError;
  /** What the check said of it; places are those of `code`. */
  readonly diagnostics: readonly Diagnostic[];
  readonly calls: readonly CallSummary[];
  /** Files it made in `out/`, figures and pictures; `gate.read(handle)` has their bytes. */
  readonly artifacts: RunResult["artifacts"];
  readonly notices: readonly string[];
  /** The run that records it; absent when nothing was run. */
  readonly runId?: string;
  readonly durationMs: number;
  /** All this as a model reads it, within `budgetTokens`. */
  readonly text: string;
}

/** How all blocks together ended. */
export interface CodeResult extends PrintedOutput {
  /** Of the last block that was taken up; 0 when there was none. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  /** Of the last block, when it has one. */
  readonly value?: ShapedValue;
  readonly artifacts: readonly (RunResult["artifacts"][number] & { readonly handle: Handle })[];
  /** In order, up to the first that did not end with 0. */
  readonly blocks: readonly BlockResult[];
  /** Blocks that were not taken up because one before them failed. */
  readonly notRun: number;
  readonly durationMs: number;
  readonly text: string;
}

import { CallgateError } from "@callgate/contract";
import type { Gate, GuestConsoleEntry, Principal, ProgramLanguage, RunLimits, RunResult } from "@callgate/contract";
import { languageOf, namesOf } from "../check/language-names.ts";
import { errorText, runReport } from "../result/report.ts";
import type { BlockResult, CodeBlock, CodeResult, OutputPart } from "./code-block.ts";
import { blockProgram, placeInCode } from "./block-program.ts";
import type { BlockProgram } from "./block-program.ts";
import { blockExitCodes, exitOf } from "./exit-code.ts";
import { extractCodeBlocks } from "./extract-code-blocks.ts";
import type { Extracted } from "./extract-code-blocks.ts";
import { requestedName } from "./file-name.ts";
import { joinOutput, partOf, printedOutput } from "./printed-output.ts";
import { writeInside } from "./write-inside.ts";

export interface BlockExecutorOptions {
  readonly gate: Gate;
  /** Languages offered, by the names the gate knows. */
  readonly languages: readonly ProgramLanguage[];
  /** The working folder on the host, where named files are kept. Without it, naming a file is refused. */
  readonly folder?: string;
  /** Wall time of one block, without the time people took to answer. */
  readonly timeoutMs: number;
  readonly limits?: Partial<RunLimits>;
  readonly budgetTokens?: number;
  readonly principal?: Principal;
  /** The language of a Markdown block that names none. Default: it is left out. */
  readonly unlabelled?: ProgramLanguage;
}

export interface ExecuteOptions {
  /** Ends the block under way with exit code 125; those after it are not taken up. */
  readonly signal?: AbortSignal;
  /** Hears what is printed as it comes, and by which block. Must not throw. */
  readonly onOutput?: (part: OutputPart, block: number) => void;
}

export interface MarkdownOptions extends ExecuteOptions {
  /** Runs a block that nothing closes, too. Default false: the text was probably cut off in the middle of it. */
  readonly runUnclosed?: boolean;
}

/** `left` are the code blocks that were not taken: in no language that is offered, or in none. */
export interface MarkdownResult extends CodeResult {
  readonly left: Extracted["left"];
}

/** Executes code blocks, each as a run of a gate: checked, decided, bounded and recorded like any other. */
export interface BlockExecutor {
  /**
   * Executes blocks one after the other, each in an interpreter of its own, until one does not end with exit code 0. What
   * a block or the sandbox can end in is a value.
   *
   * Errors: `CallgateError` USAGE for blocks that are none, CLOSED.
   */
  execute(blocks: readonly CodeBlock[], options?: ExecuteOptions): Promise<CodeResult>;
  /** Executes the code blocks of a Markdown text. */
  executeMarkdown(text: string, options?: MarkdownOptions): Promise<MarkdownResult>;
}

export function createBlockExecutor(options: BlockExecutorOptions): BlockExecutor {
  const { languages, unlabelled } = options;
  const news = createArtifactNews();

  async function execute(blocks: readonly CodeBlock[], { signal, onOutput }: ExecuteOptions = {}): Promise<CodeResult> {
    assertBlocks(blocks);
    const results: BlockResult[] = [];
    for (const [index, block] of blocks.entries()) {
      const result = await executeBlock({ ...options, news }, block, { ...(signal === undefined ? {} : { signal }), hear: (part) => onOutput?.(part, index) });
      results.push(result);
      if (result.exitCode !== blockExitCodes.ok) break;
    }
    return codeResult(results, blocks.length - results.length);
  }

  return {
    execute,
    async executeMarkdown(text, { runUnclosed = false, ...executing } = {}) {
      if (typeof text !== "string") throw new CallgateError("USAGE", "executeMarkdown takes a text");
      const { blocks, left } = extractCodeBlocks(text, { languages, ...(unlabelled === undefined ? {} : { unlabelled }) });
      const whole = runUnclosed ? blocks : blocks.filter(({ unclosed }) => !unclosed);
      const result = await execute(whole, executing);
      const cutOff = whole.length === blocks.length || result.notRun > 0 || result.exitCode !== 0 ? undefined : blocks.find(({ unclosed }) => unclosed);
      const told = cutOff === undefined ? result : codeResult([...result.blocks, unclosedResult(cutOff)], 0);
      return { ...told, left, text: blocks.length === 0 ? noBlocks(languages, left) : told.text };
    },
  };
}

function assertBlocks(blocks: readonly CodeBlock[]): void {
  if (!Array.isArray(blocks)) throw new CallgateError("USAGE", "execute takes a list of blocks: [{ language, code }]");
  for (const [index, block] of (blocks as readonly Partial<CodeBlock>[]).entries()) {
    const { language, code, filename } = block ?? {};
    if (typeof language !== "string" || typeof code !== "string" || (filename !== undefined && typeof filename !== "string")) throw new CallgateError("USAGE", `Block ${index} must have the texts language and code, and may have the text filename`);
  }
}

interface Executing {
  readonly signal?: AbortSignal;
  readonly hear: (part: OutputPart) => void;
}

/** What a block made, without what one before it has left as it is. */
type ArtifactNews = (artifacts: RunResult["artifacts"], language: ProgramLanguage) => RunResult["artifacts"];

/**
 * Shells bring back all that is in `out/`, and in a folder that lasts that is what earlier blocks made, too. The guests of Python
 * and Node look themselves, and may draw the same picture twice.
 */
function createArtifactNews(): ArtifactNews {
  const seen = new Map<string, string>();
  return (artifacts, language) => {
    const fresh = language === "python" || language === "node" ? artifacts : artifacts.filter(({ name, digest }) => seen.get(name) !== digest);
    for (const { name, digest } of artifacts) seen.set(name, digest);
    return fresh;
  };
}

async function executeBlock(options: BlockExecutorOptions & { readonly news: ArtifactNews }, block: CodeBlock, { signal, hear }: Executing): Promise<BlockResult> {
  const { gate, languages, folder, news } = options;
  const startedMs = performance.now();
  const unrun = (failure: Pick<BlockResult, "exitCode" | "status"> & { readonly message: string; readonly code: string }): BlockResult => notExecuted(block, { ...failure, startedMs });
  const language = languageOf(block.language, languages);
  if (language === undefined) return unrun({ status: "rejected", exitCode: blockExitCodes.failed, code: "UNKNOWN_LANGUAGE", message: `unknown language ${block.language.slice(0, 100)}; there are ${languagesText(languages)}` });
  if (signal?.aborted === true) return unrun({ status: "cancelled", exitCode: blockExitCodes.cancelled, code: "CANCELLED", message: "It was cancelled before it began; nothing of it ran." });
  const name = requestedName(block);
  const refusal = name.kind === "refused" ? name.message : name.kind === "name" ? keep(folder, name.segments, block.code) : undefined;
  if (refusal !== undefined) return unrun({ status: "rejected", exitCode: blockExitCodes.failed, code: "FILE_REFUSED", message: refusal });
  const filename = name.kind === "name" ? name.segments.join("/") : undefined;
  const program = blockProgram(block.code, language);
  const entries: GuestConsoleEntry[] = [];
  const onOutput = (printed: readonly GuestConsoleEntry[]): void => {
    entries.push(...printed);
    for (const entry of printed) hear(partOf(entry));
  };
  try {
    const run = await gate.run(program.text, { language, onOutput, suspendAfterMs: Number.POSITIVE_INFINITY, limits: { cpuMs: options.timeoutMs, ...options.limits, wallMs: options.timeoutMs }, ...(signal === undefined ? {} : { signal }), ...(options.budgetTokens === undefined ? {} : { budgetTokens: options.budgetTokens }), ...(options.principal === undefined ? {} : { principal: options.principal }) });
    return runResult({ block, language, run: { ...run, artifacts: news(run.artifacts, language) }, program, entries, ...(filename === undefined ? {} : { filename }) });
  } catch (fault) {
    if (CallgateError.is(fault) && (fault.code === "USAGE" || fault.code === "CLOSED")) throw fault;
    return unrun({ status: "crashed", exitCode: blockExitCodes.notExecuted, code: CallgateError.is(fault) ? fault.code : "INTERNAL", message: fault instanceof Error ? fault.message : "The executor failed" });
  }
}

function keep(folder: string | undefined, segments: readonly string[], code: string): string | undefined {
  return folder === undefined ? "There is no working folder to keep files in; nothing was written or run" : writeInside(folder, segments, code);
}

interface Ran {
  readonly block: CodeBlock;
  readonly language: ProgramLanguage;
  readonly filename?: string;
  readonly run: RunResult;
  readonly program: BlockProgram;
  readonly entries: readonly GuestConsoleEntry[];
}

function runResult({ language, filename, run, program, entries }: Ran): BlockResult {
  const exit = exitOf(run);
  const placed: RunResult = {
    ...run,
    diagnostics: run.diagnostics.map((diagnostic) => placeInCode(diagnostic, program)),
    repairs: run.repairs.filter(({ kind }) => kind !== "unwrapped"),
    ...(run.error === undefined ? {} : { error: placeInCode(run.error, program) }),
  };
  const { status, value, error, diagnostics, calls, artifacts, notices, runId, durationMs } = placed;
  return {
    language,
    ...(filename === undefined ? {} : { filename }),
    status,
    ...exit,
    ...printedOutput(entries, run.consoleDroppedBytes),
    ...(value === undefined || (value.kind === "whole" && value.value === undefined) ? {} : { value }),
    ...(error === undefined ? {} : { error }),
    diagnostics,
    calls,
    artifacts,
    notices,
    runId,
    durationMs,
    text: `${headline({ language, filename, ...exit })}\n${runReport(placed)}`,
  };
}

function headline({ language, filename, exitCode, timedOut, signal }: { readonly language: string; readonly filename: string | undefined; readonly exitCode: number; readonly timedOut: boolean; readonly signal?: string }): string {
  return `${language}${filename === undefined ? "" : ` ${filename}`}: exit code ${exitCode}${timedOut ? ", timed out" : ""}${signal === undefined ? "" : `, ${signal}`}`;
}

function notExecuted({ language }: CodeBlock, { status, exitCode, code, message, startedMs }: Pick<BlockResult, "exitCode" | "status"> & { readonly message: string; readonly code: string; readonly startedMs: number }): BlockResult {
  const error = { code, message, retryable: false };
  return {
    language, status, exitCode, error,
    timedOut: false,
    ...printedOutput([], 0),
    diagnostics: [],
    calls: [],
    artifacts: [],
    notices: [],
    durationMs: performance.now() - startedMs,
    text: `${headline({ language, filename: undefined, exitCode, timedOut: false })}\n${errorText(error)}`,
  };
}

function unclosedResult(block: Extracted["blocks"][number]): BlockResult {
  const message = `The code block of line ${block.line - 1} is never closed: the text was probably cut off, so the block was not run`;
  return notExecuted(block, { status: "rejected", exitCode: blockExitCodes.failed, code: "FENCE_NOT_CLOSED", message, startedMs: performance.now() });
}

function codeResult(blocks: readonly BlockResult[], notRun: number): CodeResult {
  const last = blocks.at(-1);
  const rest = notRun === 0 ? [] : [`${notRun === 1 ? "One block was" : `${notRun} blocks were`} not run, because the one before failed.`];
  return {
    exitCode: last?.exitCode ?? blockExitCodes.ok,
    ...(last?.signal === undefined ? {} : { signal: last.signal }),
    timedOut: last?.timedOut ?? false,
    ...joinOutput(blocks),
    ...(last?.value === undefined ? {} : { value: last.value }),
    artifacts: blocks.flatMap(({ artifacts }) => artifacts),
    blocks,
    notRun,
    durationMs: blocks.reduce((sum, { durationMs }) => sum + durationMs, 0),
    text: [...blocks.map(({ text }) => text), ...rest].join("\n\n"),
  };
}

/** The languages of an executor, as a model reads them: `python (py, python3), shell (bash, sh)`. */
export function languagesText(languages: readonly ProgramLanguage[]): string {
  const others = (language: ProgramLanguage): readonly string[] => namesOf(language).filter((name) => name !== language);
  return languages.map((language) => (others(language).length === 0 ? language : `${language} (${others(language).join(", ")})`)).join(", ");
}

function noBlocks(languages: readonly ProgramLanguage[], left: Extracted["left"]): string {
  const seen = left.length === 0 ? "" : ` Left out: ${left.map(({ word, line }) => `line ${line} (${word ?? "no language"})`).slice(0, 10).join(", ")}.`;
  return `No code block was found, so nothing was run. Put code into a fenced block marked with its language: ${languagesText(languages)}.${seen}`;
}

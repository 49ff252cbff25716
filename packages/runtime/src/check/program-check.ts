import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport, CheckRequest, Diagnostic, NamespaceDeclaration, ProgramLanguage, Repair } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { checkLearned } from "./check-learned.ts";
import { extractProgram } from "./extract.ts";
import { defaultPreScanBounds, preScan } from "./pre-scan.ts";
import type { PreScanBounds } from "./pre-scan.ts";
import { reportAt } from "./report-at.ts";
import { scanProgram } from "./scan/scan-program.ts";
import type { ScanAction, ScanRule } from "./scan/scan-rules.ts";

export interface ProgramCheckOptions {
  /** One per language; the one for TypeScript also takes JavaScript. */
  readonly checkers: readonly Checker[];
  /** What becomes of the scanner's findings, where it differs from the rules' own. */
  readonly scan?: Partial<Readonly<Record<ScanRule, ScanAction>>>;
  readonly bounds?: Partial<Omit<PreScanBounds, "sourceBytes">>;
}

/** A program as it came from a model: fenced, with prose around it, in any accepted form. */
export interface ProgramCheckRequest extends CheckRequest {
  readonly language: ProgramLanguage;
}

/** From a model's text to something that can run, or to what is wrong with it. */
export interface ProgramCheck {
  /**
   * Takes the program out of its text, holds it against the bounds and hands it to the checker of its language.
   *
   * @returns a report whose lines and columns are those of `request.text`
   *
   * Errors: CHECKER_FAILED when the checker died (it works again for the next program); USAGE for a language without
   * a checker; the reason of `signal` when it is aborted. Cost: linear before the checker, all of it on this thread.
   */
  check(request: ProgramCheckRequest, signal: AbortSignal): Promise<CheckReport>;
  /** Loads declarations into the checker of their language ahead of the first check. */
  warm(language: ProgramLanguage, namespaces: readonly NamespaceDeclaration[]): Promise<void>;
  close(): Promise<void>;
}

/** Puts extract, pre-scan and the checkers of all languages in a row. */
export function createProgramCheck(options: ProgramCheckOptions): ProgramCheck {
  const { checkers } = options;
  const scanBounds = { ...defaultPreScanBounds, ...options.bounds };
  // A program that passed passes again against the same declarations. Refusals are not kept: one may be a deadline's.
  const passed = new LRUCache<string, CheckReport>({ maxSize: 8 * 1024 * 1024, sizeCalculation: (_report, key) => key.length });

  async function checkOnce(checker: Checker, request: ProgramCheckRequest, signal: AbortSignal): Promise<CheckReport> {
    const key = [request.language, request.lane, ...request.namespaces.map(({ digest, learned }) => learned?.strict.digest ?? digest), request.text].join("\0");
    const known = request.block === undefined ? passed.get(key) : undefined;
    if (known !== undefined) return known;
    const scanned = await scanProgram(request.text, request.language, options.scan);
    const report = withScan(await checkLearned(checker, request, signal), scanned.map((diagnostic) => withExcerpt(diagnostic, request.text)));
    if (request.block !== undefined) return reachingAll(report, request);
    if (report.kind === "ok") passed.set(key, report);
    return report;
  }

  return {
    async check(request, signal) {
      signal.throwIfAborted();
      const checker = checkerOf(checkers, request.language);
      const startedMs = performance.now();
      const refuse = (diagnostic: Diagnostic): CheckReport => ({ kind: "rejected", diagnostics: [withExcerpt(diagnostic, request.text)], repairs: [], durationMs: performance.now() - startedMs });
      // Of the whole text, before Markdown is read: prose counts too.
      const tooLarge = request.text.length > request.limits.sourceBytes * 2 ? preScan(request.text, request.language, { ...scanBounds, ...request.limits }) : undefined;
      if (tooLarge !== undefined) return refuse(tooLarge);
      const extraction = extractProgram(request.text, request.language);
      if (extraction.kind === "refused") return refuse(extraction.diagnostic);
      if (extraction.text.trim() === "") return refuse({ severity: "error", code: "NO_PROGRAM", message: "The program is empty", line: extraction.firstLine, column: 1 });
      const bound = preScan(extraction.text, request.language, { ...scanBounds, ...request.limits });
      if (bound !== undefined) return refuse(reportAt.diagnostic(bound, extraction));
      const report = await checkOnce(checker, { ...request, text: extraction.text }, signal);
      return finish(reportAt.report(report, extraction), { startedMs, repairs: unwrapped(extraction.fenceLine), warnings: cutOff(extraction, report) });
    },
    async warm(language, namespaces) {
      await checkerOf(checkers, language).warm(namespaces);
    },
    async close() {
      await Promise.all(checkers.map((checker) => checker.close()));
    },
  };
}

/** What blocks before it defined may call any tool, and this one may call that. */
function reachingAll(report: CheckReport, { block, namespaces }: CheckRequest): CheckReport {
  if (report.kind === "rejected" || block === undefined || block.known.length === 0) return report;
  return { ...report, reach: { tools: "*", effects: [...new Set(namespaces.flatMap(({ tools }) => tools.map(({ effect }) => effect)))] } };
}

function checkerOf(checkers: readonly Checker[], language: ProgramLanguage): Checker {
  const family = language === "javascript" ? "typescript" : language;
  const found = checkers.find((checker) => checker.language === language) ?? checkers.find((checker) => checker.language === family);
  if (found === undefined) throw new CallgateError("USAGE", `No checker for ${language} is installed; there is one for ${checkers.map((checker) => checker.language).join(", ") || "no language"}`);
  return found;
}

/** A report with the scanner's findings: what is denied refuses the program, the rest comes after what the checker says. */
function withScan(report: CheckReport, scanned: readonly Diagnostic[]): CheckReport {
  if (scanned.length === 0) return report;
  const denied = scanned.filter(({ severity }) => severity === "error");
  const diagnostics = [...denied, ...report.diagnostics, ...scanned.filter(({ severity }) => severity !== "error")];
  return denied.length === 0 ? { ...report, diagnostics } : { kind: "rejected", diagnostics, repairs: report.repairs, durationMs: report.durationMs };
}

function withExcerpt(diagnostic: Diagnostic, text: string): Diagnostic {
  const line = (text.split(/\r\n|\n|\r/, diagnostic.line)[diagnostic.line - 1] ?? "").trim();
  return line === "" ? diagnostic : { ...diagnostic, excerpt: line.length > 160 ? `${line.slice(0, 159)}…` : line };
}

function unwrapped(fenceLine: number | undefined): Repair[] {
  return fenceLine === undefined ? [] : [{ kind: "unwrapped", message: "Took the program out of its code fence", line: fenceLine, column: 1 }];
}

function cutOff(extraction: { readonly unclosed: boolean; readonly fenceLine: number | undefined }, report: CheckReport): Diagnostic[] {
  if (!extraction.unclosed || report.kind === "ok") return [];
  return [{ severity: "warning", code: "FENCE_NOT_CLOSED", message: "The code fence is never closed: the text may have been cut off", line: extraction.fenceLine ?? 1, column: 1 }];
}

function finish(report: CheckReport, extra: { readonly startedMs: number; readonly repairs: readonly Repair[]; readonly warnings: readonly Diagnostic[] }): CheckReport {
  return { ...report, repairs: [...extra.repairs, ...report.repairs], diagnostics: [...report.diagnostics, ...extra.warnings], durationMs: performance.now() - extra.startedMs };
}

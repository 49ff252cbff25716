import type { CheckReport, Diagnostic, Lane, Repair } from "@callgate/contract";
import ts from "./typescript.cjs";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Compiled, Compiler, Flavour } from "./compiler.ts";
import { findAdvice } from "./advice.ts";
import { editText, placeAt } from "./edited-text.ts";
import type { Edit, EditedText } from "./edited-text.ts";
import { eraseTypes, hasTypeScriptSyntax } from "./emit.ts";
import type { Environment } from "./environment.ts";
import { explain } from "./explain.ts";
import type { Fix } from "./fix.ts";
import { shapeOf } from "./forms.ts";
import type { Shape } from "./forms.ts";
import { readImports } from "./imports.ts";
import type { Imports } from "./imports.ts";
import { findLaneFaults } from "./lane.ts";
import { findMissingLiteralMembers } from "./literal-members.ts";
import { findFloatingPromises } from "./promises.ts";
import { readProgram } from "./read-program.ts";
import { findRefusals } from "./refusals.ts";
import { blockCode, fitsBlock, isKnownBefore, shapeOfBlock } from "./session-block.ts";
import { findRepairs } from "./repairs.ts";
import { findDroppedResults, findNoValue } from "./results.ts";
import { findToolUses } from "./tool-uses.ts";
import type { ToolUses } from "./tool-uses.ts";

/** After so many rounds of repair what is still wrong is reported as it is. */
const maxRounds = 4;
const maxDiagnostics = 20;
const maxExcerptChars = 160;

export interface ProgramToCheck {
  readonly text: string;
  readonly environment: Environment;
  readonly lane: Lane;
  /** For a block of a session: names that are there already. */
  readonly known?: ReadonlySet<string> | undefined;
}

/** What one round of reading a text gave; offsets are those of that text. */
type Round =
  | { readonly kind: "stopped"; readonly findings: readonly Finding[] }
  | { readonly kind: "checked"; readonly findings: readonly Finding[]; readonly fixes: readonly Fix[]; readonly built: Built; readonly uses: ToolUses };

/** A program laid out as the body of one async function, and how that text came about. */
interface Built {
  readonly shape: Shape;
  readonly imports: Imports;
  readonly edited: EditedText;
  readonly edits: readonly Edit[];
  readonly headLength: number;
  readonly file: ts.SourceFile;
  readonly flavour: Flavour;
}

/** Checks one program to its end: what is wrong with it, or the code that runs. Everything here is synchronous. */
export function checkProgram({ text, environment, lane, known }: ProgramToCheck, compiler: Compiler): CheckReport {
  const startedMs = performance.now();
  const repairs: Repair[] = [];
  let edits: readonly Edit[] = [];
  for (let round = 0; ; round++) {
    const current = editText(text, edits);
    const result = checkRound(current.text, { environment, lane, compiler, known });
    const fixes = result.kind === "checked" && round < maxRounds ? result.fixes : [];
    if (result.kind === "checked" && fixes.length > 0) {
      for (const fix of fixes) repairs.push({ kind: fix.kind, message: fix.message, ...placeAt(text, current.toOrigin(fix.offset)) });
      edits = mergeEdits(edits, fixes, current);
      continue;
    }
    const diagnostics = result.findings.map((finding) => locate(finding, text, current)).sort(bySeverityAndPlace).slice(0, maxDiagnostics);
    const done = { diagnostics, repairs, durationMs: performance.now() - startedMs };
    if (result.kind === "stopped" || diagnostics.some(({ severity }) => severity === "error")) return { kind: "rejected", ...done };
    const code = emit(result.built, compiler, known !== undefined);
    if (code.kind === "refused") return { kind: "rejected", ...done, diagnostics: code.findings.map((finding) => locate({ ...finding, offset: result.built.edited.toOrigin(finding.offset) }, text, current)) };
    const returned = diagnostics.some((diagnostic) => diagnostic.code === "NO_VALUE") ? [] : returnRepair(result.built, text, current);
    return {
      kind: "ok",
      form: result.built.shape.form,
      code: code.text,
      lineOffset: known === undefined ? -1 : 0,
      shiftedLines: shiftedLines(text, current, { built: result.built, repairEdits: edits, firstLineShift: code.firstLineShift, isBlock: known !== undefined }),
      ...done,
      repairs: [...repairs, ...returned],
      reach: result.uses.reach,
      durationMs: performance.now() - startedMs,
    };
  }
}

interface RoundContext extends Pick<ProgramToCheck, "known"> {
  readonly environment: Environment;
  readonly lane: Lane;
  readonly compiler: Compiler;
}

function checkRound(text: string, { environment, lane, compiler, known }: RoundContext): Round {
  const read = readProgram(text, (source) => compiler.parse(source, "ts"), (source) => ts.createSourceFile("/program.tsx", source, ts.ScriptTarget.ES2023, false, ts.ScriptKind.TSX));
  if (!("statements" in read)) return { kind: "stopped", findings: read };
  const inProgram = (finding: Finding): Finding => ({ ...finding, offset: finding.offset - read.headLength });
  const imports = readImports(read.file, read.statements, environment);
  const shape = known === undefined ? shapeOf(read.file, read.statements) : shapeOfBlock(read.file, read.statements);
  const faults = [...imports.findings, ...findRefusals(read.file, environment), ...shape.findings].map(inProgram);
  if (faults.some(({ severity }) => severity === "error")) return { kind: "stopped", findings: faults };
  const flavour: Flavour = hasTypeScriptSyntax(read.file) ? "ts" : "js";
  const built = build(text, { file: read.file, headLength: read.headLength, imports, shape, flavour, compiler });
  const compiled = compiler.compile(built.file, flavour, environment);
  const result = judge({ compiled, environment, lane, known });
  const inText = (offset: number): number => (offset < built.headLength ? importAt(built.imports, offset) - read.headLength : built.edited.toOrigin(offset));
  return {
    kind: "checked",
    built,
    uses: result.uses,
    findings: [...faults, ...result.findings.map((finding) => ({ ...finding, offset: inText(finding.offset) }))],
    fixes: result.fixes.map((fix) => ({ ...fix, offset: inText(fix.offset), edits: fix.edits.map((edit) => ({ start: inText(edit.start), end: inText(edit.end), text: edit.text })) })),
  };
}

/** Where the import stood that has been put at this place before the program. */
function importAt({ lines }: Imports, offset: number): number {
  let end = 0;
  const found = lines.find(({ check }) => offset < (end += check.length + 1));
  return (found ?? lines.at(-1))?.offset ?? 0;
}

function build(text: string, parts: Pick<Built, "imports" | "shape" | "flavour" | "file" | "headLength"> & { readonly compiler: Compiler }): Built {
  const { imports, shape, flavour, compiler, headLength } = parts;
  const head = `${imports.lines.map(({ check }) => check).join(" ")}async function $program() {\n`;
  const edits = [...imports.edits, ...shape.edits].map((edit) => ({ start: edit.start - headLength, end: edit.end - headLength, text: edit.text }));
  const edited = editText(text, edits, { before: head, after: `\n${shape.tail}}` });
  const unchanged = edits.length === 0 && shape.tail === "" && flavour === "ts" && imports.lines.length === 0;
  return { imports, shape, flavour, edited, edits, headLength: head.length, file: unchanged ? parts.file : compiler.parse(edited.text, flavour) };
}

interface Judging extends Pick<ProgramToCheck, "known"> {
  readonly compiled: Compiled;
  readonly environment: Environment;
  readonly lane: Lane;
}

function judge({ compiled, environment, lane, known }: Judging): { readonly findings: Finding[]; readonly fixes: readonly Fix[]; readonly uses: ToolUses } {
  const { program, file } = compiled;
  const raw = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file), ...findMissingLiteralMembers(compiled)];
  const uses = findToolUses(compiled, environment);
  const context = { compiled, environment, uses };
  const typed = raw.flatMap((diagnostic) => {
    if (known !== undefined && isKnownBefore(diagnostic, known)) return [];
    const finding = explain(diagnostic, context);
    return finding === undefined ? [] : [{ diagnostic, finding }];
  });
  const fixes = findRepairs(typed, context);
  const isRejected = typed.some(({ finding }) => finding.severity === "error");
  const own = [...findFloatingPromises(context), ...findDroppedResults(context), ...findLaneFaults(context, lane), ...programOf(file).flatMap((wrapper) => findNoValue(wrapper, { compiled }))];
  const all = withoutTwins([...typed.map(({ finding }) => finding), ...own, ...(isRejected ? [] : findAdvice(context))]);
  const lastStatement = programOf(file)[0]?.body?.statements.at(-1)?.getStart(file) ?? 0;
  return { uses, fixes, findings: known === undefined ? all : all.filter((finding) => fitsBlock(finding, lastStatement)) };
}

function programOf(file: ts.SourceFile): ts.FunctionDeclaration[] {
  return file.statements.filter((statement) => ts.isFunctionDeclaration(statement)).filter(({ name }) => name?.text === "$program");
}

/** One place says one thing once. */
function withoutTwins(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, offset }) => {
    const key = `${code}:${offset}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

type Code = Exclude<ReturnType<typeof eraseTypes>, { kind: "code" }> | { readonly kind: "code"; readonly text: string; readonly firstLineShift: number };

function emit(built: Built, compiler: Compiler, isBlock: boolean): Code {
  const erased = built.flavour === "js" && !/\bimport\b/.test(built.edited.text.slice(built.headLength)) ? { kind: "code" as const, text: built.edited.text } : eraseTypes(built.flavour === "js" ? compiler.parse(built.edited.text, "ts") : built.file, (text) => compiler.parse(text, "ts"));
  if (erased.kind === "refused") return erased;
  const body = erased.text.slice(built.headLength, erased.text.length - 1);
  if (isBlock) return { kind: "code", ...blockCode(built.imports, body) };
  const imports = built.imports.lines.map(({ run }) => run).filter((line) => line !== "");
  // The program has a block of its own, so that it may declare what it also imports, as it may in a module's function.
  return { kind: "code", text: `(async ($callgate) => { "use strict"; ${imports.join(" ")} {\n${body}}})`, firstLineShift: 0 };
}

function locate(finding: Finding, text: string, current: EditedText): Diagnostic {
  const { offset, ...rest } = finding;
  const origin = Math.max(0, Math.min(text.length, current.toOrigin(offset)));
  const place = placeAt(text, origin);
  const line = (text.split(/\r\n|\n|\r/, place.line)[place.line - 1] ?? "").trim();
  return { ...rest, ...place, ...(line === "" ? {} : { excerpt: line.length > maxExcerptChars ? `${line.slice(0, maxExcerptChars - 1)}…` : line }) };
}

const severityOrder = { error: 0, warning: 1, advice: 2 };

function bySeverityAndPlace(a: Diagnostic, b: Diagnostic): number {
  return severityOrder[a.severity] - severityOrder[b.severity] || a.line - b.line || a.column - b.column;
}

function mergeEdits(edits: readonly Edit[], fixes: readonly Fix[], current: EditedText): Edit[] {
  return [...edits, ...fixes.flatMap((fix) => fix.edits.map((edit) => ({ start: current.toOrigin(edit.start), end: current.toOrigin(edit.end), text: edit.text })))];
}

/** Only said when something came of it: a last expression without a value is not a forgotten return. */
function returnRepair(built: Built, text: string, current: EditedText): Repair[] {
  const { returned, form } = built.shape;
  if (returned === undefined || form === "expression") return [];
  return [{ kind: "return_added", message: "The last expression is the value of the program", ...placeAt(text, current.toOrigin(returned)) }];
}

interface Shifting {
  readonly built: Built;
  readonly repairEdits: readonly Edit[];
  /** Of a block, whose first line is that of the text: what was put before it. */
  readonly firstLineShift: number;
  readonly isBlock: boolean;
}

/** Lines of the code whose columns are not those of the text, by what was put before the rest of the line. */
function shiftedLines(text: string, current: EditedText, { built, repairEdits, firstLineShift, isBlock }: Shifting): { readonly line: number; readonly columns: number }[] {
  const before = isBlock ? 0 : 1;
  const byLine = new Map<number, number>(firstLineShift === 0 ? [] : [[1, firstLineShift]]);
  const count = (offset: number, { start, end, text: put }: Edit): void => {
    const columns = end - start - put.length;
    if (columns === 0 || put.startsWith(")") || put.startsWith(";")) return;
    const line = placeAt(text, offset).line + before;
    byLine.set(line, (byLine.get(line) ?? 0) + columns);
  };
  for (const edit of repairEdits) count(edit.start, edit);
  for (const edit of built.edits) count(current.toOrigin(edit.start), edit);
  return [...byLine].filter(([, columns]) => columns !== 0).map(([line, columns]) => ({ line, columns }));
}

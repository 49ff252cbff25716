import type { CheckReport, Diagnostic, Lane } from "@callgate/contract";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { PyrightFinding } from "../server/language-server.ts";
import { findAdvice, findLaneFaults } from "./advice.ts";
import { readEnding } from "./ending.ts";
import type { Ending } from "./ending.ts";
import type { Environment } from "./environment.ts";
import { explain, placeAt } from "./explain.ts";
import type { Explaining } from "./explain.ts";
import { findRefusedImports, importedNames } from "./imports.ts";
import { positionsOf } from "./positions.ts";
import type { Positions } from "./positions.ts";
import { isModuleLevel, readTree } from "./python-tree.ts";
import { severityOf } from "./severity.ts";
import { withoutSuppressions } from "./suppressions.ts";
import { findToolUses } from "./tool-uses.ts";

/** A program that was read, waiting for what pyright says of it. */
export interface Reading extends Explaining {
  /** What pyright gets. */
  readonly checkable: string;
  /** Of a block of a session: names that blocks before it may have defined. */
  readonly known?: ReadonlySet<string>;
}

export function readProgram(text: string, environment: Environment): Reading {
  const tree = readTree(text);
  const imports = importedNames(tree);
  return { tree, imports, environment, uses: findToolUses(tree, imports, environment), checkable: withoutSuppressions(tree) };
}

const maxDiagnostics = 50;

/** Of no use before the program works. */
const ofEnding: ReadonlySet<string> = new Set(["NO_VALUE", "RESULT_DROPPED"]);

/** Puts together what the parser, the declarations and pyright say. */
export function judge(reading: Reading, findings: readonly PyrightFinding[], lane: Lane): CheckReport {
  const { tree, uses } = reading;
  const positions = positionsOf(tree.text);
  const ending = readEnding(tree, uses);
  const typed = typeFindings(findings, positions, reading);
  const own = [...findRefusedImports(reading.imports, reading.environment), ...ending.findings.filter(({ code }) => reading.known === undefined || code !== "NO_VALUE"), ...findLaneFaults(uses, lane)];
  const diagnostics = inOrder([...typed, ...own]).map((finding) => toDiagnostic(finding, positions));
  const repairs = ending.repairs.map(({ offset, ...repair }) => ({ ...repair, ...positions.at(offset) }));
  if (diagnostics.some(({ severity }) => severity === "error")) return { kind: "rejected", diagnostics: diagnostics.filter(({ code }) => !ofEnding.has(code)).slice(0, maxDiagnostics), repairs: [], durationMs: 0 };
  const advised = findAdvice(tree, uses).map((finding) => toDiagnostic(finding, positions));
  return {
    kind: "ok",
    form: ending.form,
    code: ending.code,
    lineOffset: 0,
    shiftedLines: shifted(ending, positions),
    diagnostics: [...diagnostics, ...advised].slice(0, maxDiagnostics),
    repairs,
    reach: uses.reach,
    durationMs: 0,
  };
}

function shifted({ cut }: Ending, positions: Positions): { line: number; columns: number }[] {
  return cut === undefined ? [] : [{ line: positions.at(cut.from).line, columns: cut.length }];
}

function typeFindings(findings: readonly PyrightFinding[], positions: Positions, reading: Reading): Finding[] {
  const isBroken = findings.some(({ code, severity, message }) => code === undefined && severity === 1 && !allowedInGuest.test(message));
  const found: Finding[] = [];
  for (const finding of findings) {
    // What follows from a syntax error says nothing.
    if (isBroken && finding.code !== undefined) continue;
    if (isKnownBefore(finding, reading)) continue;
    const offset = keyOffset(finding, positions, reading) ?? positions.offsetOf(finding.range.start.line, finding.range.start.character);
    const said = typeFinding(finding, offset, reading);
    if (said !== undefined) found.push(said);
    if (found.length >= maxDiagnostics * 2) break;
  }
  return found;
}

function isKnownBefore({ code, message }: PyrightFinding, { known }: Reading): boolean {
  if (known === undefined || (code !== "reportUndefinedVariable" && code !== "reportUnboundVariable")) return false;
  return known.has(/^"(.+?)" is /.exec(message)?.[1] ?? "");
}

/** Pyright marks the whole of `x["key"]`; the key is what is wrong. */
function keyOffset({ message, range }: PyrightFinding, positions: Positions, { tree }: Reading): number | undefined {
  const key = /"(.+?)" is not a (?:defined|required) key in/.exec(message)?.[1];
  if (key === undefined) return undefined;
  const [from, to] = [range.start, range.end].map(({ line, character }) => positions.offsetOf(line, character));
  return tree.strings.findLast((string) => string.from >= (from ?? 0) && string.to <= (to ?? 0) && tree.text.slice(string.from + 1, string.to - 1) === key)?.from;
}

/** What pyright refuses at module level and the guest, or this checker, allows there. */
const allowedInGuest = /^"await" allowed only within async function|^Use of "async" not allowed outside of async function|"return" can be used only within a function/;

function typeFinding(finding: PyrightFinding, offset: number, reading: Reading): Finding | undefined {
  if (finding.severity !== 1 && finding.severity !== 2) return undefined;
  const place = placeAt(offset, reading);
  if (finding.code === undefined) {
    if (/"return" can be used/.test(finding.message) && isModuleLevel(place.node)) return undefined;
    if (allowedInGuest.test(finding.message) && isModuleLevel(place.node)) return undefined;
    return finding.severity === 1 ? error("PY_SYNTAX", offset, finding.message.split("\n")[0] ?? finding.message) : undefined;
  }
  if (finding.code === "reportMissingImports") return missingModule(finding, offset, reading);
  const severity = severityOf(finding, { isToolCall: place.tool !== undefined, isModule: false });
  return severity === undefined ? undefined : { code: String(finding.code), ...explain(finding, place, reading), severity, offset };
}

/** Modules outside the standard library have no stubs here; within `tools` every module is known. */
function missingModule({ message }: PyrightFinding, offset: number, { environment }: Reading): Finding | undefined {
  const module = /^Import "tools\.(?:aio\.)?(\w+)/.exec(message)?.[1];
  if (module === undefined) return undefined;
  const away = environment.unavailable.get(module);
  if (away !== undefined) return error("SOURCE_UNAVAILABLE", offset, away);
  return error("IMPORT_NOT_ALLOWED", offset, `There is no namespace ${module} in tools; there are: ${[...environment.namespaces.keys()].slice(0, 12).join(", ")}`);
}

const rank = { error: 0, warning: 1, advice: 2 } as const;

/** Errors first, then by place; one finding a place and severity. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings
    .toSorted((a, b) => rank[a.severity] - rank[b.severity] || a.offset - b.offset)
    .filter(({ offset, severity, code }) => {
      const key = `${offset} ${severity} ${code}`;
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    });
}

function toDiagnostic({ offset, ...finding }: Finding, positions: Positions): Diagnostic {
  const place = positions.at(offset);
  const excerpt = positions.excerpt(place.line);
  return { ...finding, ...place, ...(excerpt === "" ? {} : { excerpt }) };
}

import type { Diagnostic, ProgramLanguage } from "@callgate/contract";
import { parser as javaScriptParser } from "@lezer/javascript";
import { parser as pythonParser } from "@lezer/python";
import { parseInSlices } from "./parse-in-slices.ts";
import { scanJavaScript } from "./scan-javascript.ts";
import { scanPython } from "./scan-python.ts";
import { scanDiagnostic } from "./scan-rules.ts";
import type { ScanAction, ScanFinding, ScanRule } from "./scan-rules.ts";
import { scanShell } from "./scan-shell.ts";

const budgetMs = 500;
const maxFindings = 20;

/**
 * Looks for uses of what usually has no place in a program: advice for its review (DESIGN D11). Comments of the program
 * change nothing. The text must be within the pre-scan's bounds; parsers are JavaScript and yield to the event loop.
 *
 * @returns at most twenty findings, one a rule and line; SCAN_INCOMPLETE when the text took too long
 */
export async function scanProgram(text: string, language: ProgramLanguage, actions: Partial<Readonly<Record<ScanRule, ScanAction>>> = {}): Promise<Diagnostic[]> {
  const seen = new Set<string>();
  const found: Diagnostic[] = [];
  const lines = lineStarts(text);
  for (const finding of await findingsOf(text, language)) {
    const line = lines.findLastIndex((start) => start <= finding.offset);
    const diagnostic = scanDiagnostic(finding, { line: line + 1, column: finding.offset - (lines[line] ?? 0) + 1 }, actions);
    const key = `${finding.rule} ${line}`;
    if (diagnostic === undefined || seen.has(key)) continue;
    seen.add(key);
    found.push(diagnostic);
    if (found.length === maxFindings) break;
  }
  return found;
}

const scripts: readonly ProgramLanguage[] = ["typescript", "javascript", "node"];

async function findingsOf(text: string, language: ProgramLanguage): Promise<readonly ScanFinding[]> {
  if (language === "shell") return scanShell(text);
  const isPython = language === "python";
  if (!isPython && !scripts.includes(language)) return [];
  const tree = await parseInSlices(isPython ? pythonParser : javaScriptParser.configure({ dialect: "ts" }), text, budgetMs);
  if (tree === undefined) return [{ rule: "SCAN_INCOMPLETE", offset: 0 }];
  return isPython ? scanPython(text, tree) : scanJavaScript(text, tree);
}

function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), ({ index, 0: end }) => index + end.length)];
}

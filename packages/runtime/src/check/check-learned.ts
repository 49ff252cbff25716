import type { Checker, CheckReport, CheckRequest, Diagnostic } from "@callgate/contract";

/**
 * Checks a program against outputs that were learned, without ever refusing or repairing it because of them: where it does not
 * pass as it stands, what counts is the check in which nothing is said of those outputs, and what only the other found is a warning.
 * A second check is paid for only then.
 */
export async function checkLearned(checker: Checker, request: CheckRequest, signal: AbortSignal): Promise<CheckReport> {
  if (request.namespaces.every(({ learned }) => learned === undefined)) return await checker.check(request, signal);
  const strict = await checker.check(withOutputs(request, "strict"), signal);
  if (strict.kind === "ok" && strict.repairs.every(({ kind }) => kind !== "renamed")) return strict;
  const loose = await checker.check(withOutputs(request, "loose"), signal);
  const doubts = [...strict.diagnostics.filter(({ severity }) => severity === "error"), ...renamed(strict)].filter((one) => !isAmong(one, loose));
  if (doubts.length === 0) return loose;
  return { ...loose, diagnostics: [...loose.diagnostics, ...doubts.map((one): Diagnostic => ({ ...one, severity: "warning", message: `${one.message.replace(/\.$/, "")} (by what this tool was seen to answer, which it does not declare)` }))] };
}

function withOutputs(request: CheckRequest, as: "strict" | "loose"): CheckRequest {
  return { ...request, namespaces: request.namespaces.map((one) => (one.learned === undefined ? one : { ...one, ...one.learned[as] })) };
}

function renamed({ repairs }: CheckReport): readonly Diagnostic[] {
  return repairs.flatMap(({ kind, message, line, column }) => (kind === "renamed" ? [{ severity: "warning", code: "NOT_SEEN", message: message.replace(/^Renamed/, "Probably misspelt: not renamed"), line, column } as const] : []));
}

function isAmong({ code, line, column }: Diagnostic, { diagnostics, repairs }: CheckReport): boolean {
  return [...diagnostics.map((one) => ({ ...one, isSame: one.code === code })), ...repairs.map((one) => ({ ...one, isSame: one.kind === "renamed" }))].some((one) => one.isSame && one.line === line && one.column === column);
}

import type { CallError, Diagnostic, RunError } from "@callgate/contract";

/** One error for a model: what, where, whether trying again helps. */
export function renderError(error: CallError | RunError): string {
  const where = [
    "line" in error && error.line !== undefined ? `line ${error.line}${error.column === undefined ? "" : `:${error.column}`}` : undefined,
    error.tool === undefined || error.tool === "" ? undefined : error.tool,
    error.path === undefined || error.path === "" ? undefined : `at ${error.path}`,
  ].filter((part) => part !== undefined);
  const excerpt = "excerpt" in error && error.excerpt !== undefined ? `\n    ${error.excerpt}` : "";
  const details = error.details === undefined || Object.keys(error.details).length === 0 ? "" : `\n  ${JSON.stringify(error.details).slice(0, 500)}`;
  return `${error.code}${where.length === 0 ? "" : ` (${where.join(", ")})`}: ${error.message}${error.retryable ? " Calling again may help." : ""}${excerpt}${details}`;
}

/** One diagnostic, with the model's own line and what would be right. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  const { line, column, code, message, excerpt, suggestions, declaration, severity } = diagnostic;
  return [
    `${line}:${column} ${severity === "error" ? "" : `${severity} `}${code}: ${message}`,
    ...(excerpt === undefined ? [] : [`    ${excerpt}`]),
    ...(suggestions === undefined || suggestions.length === 0 ? [] : [`    did you mean: ${suggestions.join(", ")}`]),
    ...(declaration === undefined ? [] : [`    declared: ${declaration}`]),
  ].join("\n");
}

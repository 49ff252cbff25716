import type { ParseIssue } from "@callgate/contract";

const maxShown = 3;

/** `/amount must be number; /to is required (and 2 more)` */
export function listIssues(issues: readonly ParseIssue[]): string {
  const shown = issues.slice(0, maxShown).map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
  const more = issues.length - shown.length;
  return shown.join("; ") + (more > 0 ? ` (and ${more} more)` : "");
}

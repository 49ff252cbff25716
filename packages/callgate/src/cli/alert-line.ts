import type { Alert } from "@callgate/runtime/alerts";
import { visible } from "./terminal.ts";

/** An alert in a line. */
export function alertLine({ atMs, ruleId, message, runId }: Alert): string {
  return `${new Date(atMs).toISOString()} ${ruleId}: ${visible(message)}${runId === undefined ? "" : ` (last in ${runId})`}`;
}

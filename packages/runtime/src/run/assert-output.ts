import { CallgateError } from "@callgate/contract";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { listIssues } from "../lib/list-issues.ts";

/**
 * Refuses what somebody says a call came to where its tool could never have answered that: it can still be corrected, and
 * the run that took it would end for it. A tool that is not in the catalog any more judges nothing.
 *
 * Errors: SIGNAL_REFUSED, with the places that are wrong.
 */
export async function assertOutput(tool: CatalogTool | undefined, callId: string, output: unknown): Promise<void> {
  const parsed = await tool?.validateOutput(output);
  if (tool === undefined || parsed?.kind !== "invalid") return;
  throw new CallgateError("SIGNAL_REFUSED", `What was said of ${callId} does not match the output schema of ${tool.name}: ${listIssues(parsed.issues)}. Nothing was kept: say it again, corrected`, { details: { callId, tool: tool.name, issues: parsed.issues.map(({ path, message }) => ({ path, message })) } });
}

import type { Clock, ParseIssue } from "@callgate/contract";
import { judge } from "../broker/judge.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { enteredArgs } from "./shown-approval.ts";

/** Arguments as policies see them, or why they do not fit the tool. */
export type JudgedArgs = { readonly kind: "fits"; readonly args: unknown } | { readonly kind: "misfit"; readonly issues: readonly ParseIssue[] };

/** Arguments of a call that is not made: carried over from an older version of the tool, and as its own schema leaves them. */
export async function judgedArgs(tool: CatalogTool, given: unknown, clock: Clock): Promise<JudgedArgs> {
  const parsed = await judge(() => tool.validateInput(enteredArgs(tool, given)), { clock, timeoutMs: tool.tool.timeoutMs, byAuthor: tool.tool.parseInput !== undefined });
  if (parsed.kind !== "value") return { kind: "misfit", issues: [{ path: "", message: "the tool's own schema could not judge them" }] };
  return parsed.value.kind === "ok" ? { kind: "fits", args: parsed.value.value } : { kind: "misfit", issues: parsed.value.issues };
}

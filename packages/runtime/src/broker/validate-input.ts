import type { ParseIssue, ParseResult } from "@callgate/contract";
import { listIssues } from "../lib/list-issues.ts";
import type { Raced } from "../lib/race.ts";
import type { BrokerTool, CallScope, Ended, FrozenArguments } from "./call.ts";
import { ended } from "./ended.ts";
import { freezeArguments } from "./frozen-arguments.ts";
import { judge } from "./judge.ts";
import { readThrown } from "./thrown.ts";

const MAX_ISSUES = 20;

/**
 * Holds the snapshot against the tool's schema, then its author's own. What that one made of it (defaults, trimmed
 * text) is frozen in turn: it is what policy sees, a person is shown and the tool gets.
 */
export function validateInput(scope: CallScope, tool: BrokerTool, issued: FrozenArguments): Validated | Promise<Validated> {
  // A job that is cancelled is looked at all the same: its tool is to stop it.
  const parsed = judge(() => tool.validateInput(issued.value), { clock: scope.seams.clock, timeoutMs: tool.tool.timeoutMs, ...(scope.request.past?.job === undefined ? { stop: scope.stop } : {}), byAuthor: tool.tool.parseInput !== undefined });
  return parsed instanceof Promise ? parsed.then((later) => conclude(scope, { tool, issued, parsed: later })) : conclude(scope, { tool, issued, parsed });
}

type Validated = { readonly kind: "valid"; readonly args: FrozenArguments } | Ended;

interface Judged {
  readonly tool: BrokerTool;
  readonly issued: FrozenArguments;
  readonly parsed: Raced<ParseResult>;
}

function conclude(scope: CallScope, { tool, issued, parsed }: Judged): Validated {
  const stop = { tool: tool.name, outcome: "invalid_input", code: "INVALID_INPUT" } as const;
  switch (parsed.kind) {
    case "value": {
      if (parsed.value.kind === "ok") return { kind: "valid", args: parsed.value.value === issued.value ? issued : freezeArguments(parsed.value.value) };
      const issues = parsed.value.issues.map(({ path, message }) => ({ path, message: scope.safe.text(message) }));
      return ended({ ...stop, message: `The arguments of ${tool.name} do not match its schema: ${listIssues(issues)}. Nothing was changed; correct them and call again.`, ...placed(issues) });
    }
    case "threw":
      return ended({ ...stop, message: `The schema of ${tool.name} could not judge the arguments: ${readThrown(parsed.error, [], scope.safe).message}. Nothing was changed.` });
    case "timed_out":
      return ended({ ...stop, outcome: "timed_out", code: "TOOL_TIMEOUT", message: `The schema of ${tool.name} did not judge the arguments within ${tool.tool.timeoutMs} ms. Nothing was changed.` });
    case "cancelled":
      return cancelledBefore(tool.name);
  }
}

/** A call that was cancelled before its tool ran. */
export function cancelledBefore(tool: string): Ended {
  return ended({ outcome: "cancelled", code: "CANCELLED", tool, message: `The call of ${tool} was cancelled before it began. Nothing was changed.` });
}

/** The place at fault, when there is one, and the list of all. */
export function placed(issues: readonly ParseIssue[]): { readonly path?: string; readonly details: { readonly issues: readonly { readonly path: string; readonly message: string }[] } } {
  const [first] = issues;
  return {
    ...(first !== undefined && issues.every(({ path }) => path === first.path) ? { path: first.path } : {}),
    details: { issues: issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({ path, message })) },
  };
}

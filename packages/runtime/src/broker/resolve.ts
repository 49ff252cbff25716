import { replaceControls } from "../lib/replace-controls.ts";
import type { BrokerTool, CallScope, Ended } from "./call.ts";
import { ended } from "./ended.ts";

/** Longest tool name that is repeated in messages and records. */
const MAX_NAME_CHARS = 200;

/**
 * Finds the tool. One whose source cannot be reached ends with SOURCE_UNAVAILABLE. One that the principal may never call and one that does not exist are the same to the caller: same
 * code, same words, same suggestions, so that names cannot be probed.
 */
export function resolve(scope: CallScope): BrokerTool | Ended {
  const { catalog, principal, tool: name } = scope.request;
  const visible = (tool: BrokerTool): boolean => isVisible(scope, tool);
  const tool = catalog.resolve(name);
  if (tool !== undefined && visible(tool)) return tool;
  const shown = shownName(name);
  const away = catalog.unavailable?.(name.slice(0, Math.max(0, name.indexOf("."))));
  if (away !== undefined) {
    return ended({ outcome: "failed", code: "SOURCE_UNAVAILABLE", tool: shown, message: `${away.message} Nothing was changed.`, retryable: away.retryable, details: { source: away.namespace } });
  }
  const nearest = catalog.nearest(shown, visible).slice(0, 3);
  return ended({
    outcome: "failed",
    code: "TOOL_NOT_FOUND",
    tool: shown,
    message: `No tool "${shown}" is visible to ${principal.user}. ${nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : "Search for one with tools.search(query)."} Nothing was changed.`,
    ...(nearest.length > 0 ? { details: { nearest } } : {}),
  });
}

/** The name as it may be repeated: bounded, one line. */
export function shownName(name: string): string {
  const line = replaceControls(name, () => "?");
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS).toWellFormed()}…` : line;
}

/** A policy that throws hides the tool: the safe reading. */
export function isVisible(scope: CallScope, { name, tool }: BrokerTool): boolean {
  try {
    return scope.seams.policy.visible(scope.request.principal, name, tool);
  } catch {
    return false;
  }
}

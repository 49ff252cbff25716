import { listIssues } from "../lib/list-issues.ts";
import type { CallScope, BrokerTool, Ended, FrozenArguments, ReadyCall } from "./call.ts";
import { ended, withStatus } from "./ended.ts";
import { freezeArguments } from "./frozen-arguments.ts";
import { inputPointers } from "./pointers.ts";
import { sensitiveValues } from "./sensitive-values.ts";
import { placed } from "./validate-input.ts";
import { validateOutput } from "./validate-output.ts";

/**
 * Arguments of the version that the caller was checked against, as the tool takes them now. All that follows sees those: what
 * interceptors, the policy, limits, people and the tool are told is one and the same.
 */
export function enterOlder(scope: CallScope, tool: BrokerTool, issued: FrozenArguments): FrozenArguments | Ended {
  const { older } = tool;
  if (older === undefined) return issued;
  const entered = older.enter(issued.take());
  if (entered.kind === "invalid") {
    const issues = entered.issues.map(({ path, message }) => ({ path, message: scope.safe.text(message) }));
    return ended({ outcome: "invalid_input", code: "INVALID_INPUT", tool: tool.name, message: `The arguments of ${tool.name} do not fit its version ${older.version}, as which it is called: ${listIssues(issues)}. Nothing was changed.`, ...placed(issues) });
  }
  const args = freezeArguments(entered.value);
  const secrets = sensitiveValues(args.value, inputPointers(tool));
  if (secrets.length > 0) scope.state.sensitive = [...(scope.state.sensitive ?? []), ...secrets];
  return args;
}

/** A good answer in the form of the version that the caller was checked against. What became of the world stays as it is. */
export async function leaveOlder(call: ReadyCall, end: Ended): Promise<Ended> {
  const { older } = call.tool;
  const { outcome } = end;
  // A placeholder that stands for anything has no form.
  if (older === undefined || outcome.kind !== "ok" || end.asInterface === older.digest || end.simulated === "opaque" || call.request.undo !== undefined) return end;
  const { parseOutput: _parseOutput, ...tool } = call.tool.tool;
  const made = await validateOutput({ ...call, tool: { ...call.tool, tool, validateOutput: (value) => older.leave(value) } }, { kind: "performed", value: outcome.value, artifacts: outcome.artifacts, attempts: end.attempts });
  return { ...end, ...made, cached: end.cached, outcome: withStatus(made.outcome, outcome.effectStatus), ...(made.outcome.kind === "ok" ? { asInterface: older.digest } : {}) };
}

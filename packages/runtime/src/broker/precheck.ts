import { race } from "../lib/race.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { takeArguments } from "./secret-arguments.ts";
import { readThrown } from "./thrown.ts";
import { createToolContext } from "./tool-context.ts";
import { cancelledBefore } from "./validate-input.ts";

/**
 * Lets the tool say, without changing anything, that the call cannot succeed: before anyone is asked, before an intent
 * is written. Runs only for calls that policy did not deny.
 */
export async function precheck(call: ReadyCall): Promise<Ended | undefined> {
  const { tool } = call.tool;
  if (tool.precheck === undefined) return undefined;
  const hook = tool.precheck.bind(tool);
  const checked = await race(async (inner) => { await hook(takeArguments(call), createToolContext(call, { inner, store: undefined })); }, { clock: call.seams.clock, timeoutMs: tool.timeoutMs, stop: call.stop });
  switch (checked.kind) {
    case "value":
      return undefined;
    case "threw": {
      const { code, message, retryable = false, details } = readThrown(checked.error, tool.errors, call.safe);
      return ended({ outcome: "failed", code, tool: call.tool.name, message: `${message.replace(/[.]$/, "")}. Nothing was changed.`, retryable, ...(details === undefined ? {} : { details }) });
    }
    case "timed_out":
      return ended({ outcome: "timed_out", code: "TOOL_TIMEOUT", tool: call.tool.name, message: `The precheck of ${call.tool.name} did not answer within ${tool.timeoutMs} ms. Nothing was changed.`, retryable: true });
    case "cancelled":
      return cancelledBefore(call.tool.name);
  }
}

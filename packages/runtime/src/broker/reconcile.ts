import { BackgroundJob } from "@callgate/contract";
import type { ReconcileAnswer } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { ReadyCall } from "./call.ts";
import { takeArguments } from "./secret-arguments.ts";
import { createToolContext } from "./tool-context.ts";

/** What the tool itself finds out. A hook that fails has found out nothing. */
export async function reconcile(call: ReadyCall): Promise<ReconcileAnswer> {
  const { tool } = call.tool;
  if (tool.reconcile === undefined || call.request.undo !== undefined) return { kind: "unknown" };
  const hook = tool.reconcile.bind(tool);
  const asked = await race(async (inner) => await hook(takeArguments(call), createToolContext(call, { inner, store: undefined })), { clock: call.seams.clock, timeoutMs: tool.timeoutMs, stop: call.stop });
  const answer: unknown = asked.kind === "value" ? asked.value : undefined;
  if (typeof answer !== "object" || answer === null) return { kind: "unknown" };
  const { kind, output, job } = answer as { readonly kind?: unknown; readonly output?: unknown; readonly job?: unknown };
  if (kind === "happened") return { kind, output };
  if (kind === "goes_on" && BackgroundJob.is(job)) return { kind, job };
  return { kind: kind === "did_not_happen" ? kind : "unknown" };
}

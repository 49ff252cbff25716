import { isDeepStrictEqual } from "node:util";
import type { SimulatedBy } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { createPlaceholders } from "./placeholder.ts";
import type { Placeholders } from "./placeholder.ts";
import { takeArguments } from "./secret-arguments.ts";
import { readThrown } from "./thrown.ts";
import { createToolContext } from "./tool-context.ts";
import { cancelledBefore } from "./validate-input.ts";
import { validateOutput } from "./validate-output.ts";
import { variedValue } from "./varied-value.ts";
import type { ValueVariant } from "./varied-value.ts";

/**
 * Answers a call that is not made (docs/decisions/0041-rehearsed-writes.md): with what the tool's own `simulate` says, else the
 * first of its examples that fits, else a value made of its output schema, else a text that stands for anything. Nothing is
 * changed, so its effect is `none`. A refusal of the tool's `simulate` is the call's.
 *
 * @param isUnreal the call is about a placeholder: that `simulate` finds no such thing says nothing
 */
export async function simulate(call: ReadyCall, { isUnreal }: { readonly isUnreal: boolean }): Promise<Ended> {
  const { rehearsal, callId } = call.request;
  const variant = rehearsal?.variant ?? { kind: "plain" };
  if (variant.kind === "failing" && call.effect !== "read" && call.tool.name === variant.tool) return failing(call);
  const own = await bySimulate(call);
  const answer = own === undefined || (own.outcome.kind !== "ok" && isUnreal) ? await standIn(call) : own;
  const isAsMeant = variant.kind === "plain" || variant.kind === "failing" || answer.outcome.kind !== "ok" || rehearsal?.isNested(callId) === true;
  return isAsMeant ? answer : await varied(call, answer, variant.kind);
}

/** Undefined: the tool has no such code. */
async function bySimulate(call: ReadyCall): Promise<Ended | undefined> {
  const { tool, name } = call.tool;
  if (tool.simulate === undefined || call.request.undo !== undefined) return undefined;
  const hook = tool.simulate.bind(tool);
  const asked = await race(async (inner) => await hook(takeArguments(call), createToolContext(call, { inner, store: undefined })), { clock: call.seams.clock, timeoutMs: tool.timeoutMs, stop: call.stop });
  switch (asked.kind) {
    case "value":
      return await answered(call, asked.value, "tool");
    case "threw": {
      const { code, message, retryable = false, details } = readThrown(asked.error, tool.errors, call.safe);
      return { ...ended({ outcome: "failed", code, tool: name, message: `${message.replace(/[.]$/, "")}. Nothing was changed.`, retryable, ...(details === undefined ? {} : { details }) }), simulated: "tool" };
    }
    case "timed_out":
      return { ...ended({ outcome: "timed_out", code: "TOOL_TIMEOUT", tool: name, message: `The simulation of ${name} did not answer within ${tool.timeoutMs} ms. Nothing was changed.`, retryable: true }), simulated: "tool" };
    case "cancelled":
      return cancelledBefore(name);
  }
}

/** The first of what there is that passes the tool's own checks. */
async function standIn(call: ReadyCall): Promise<Ended> {
  const { output, examples } = call.tool.tool;
  const shown = examples.filter((example) => example.output !== undefined);
  const same = shown.filter(({ input }) => isDeepStrictEqual(input, call.args.value));
  for (const example of [...same, ...shown]) {
    const end = await answered(call, example.output, "example");
    if (end.outcome.kind === "ok") return end;
  }
  const placeholders = createPlaceholders({ seq: call.request.seq, isVaried: false });
  const made = output === undefined ? undefined : placeholders.of(output);
  const end = made === undefined ? undefined : await answered(call, made.value, "schema");
  if (end?.outcome.kind === "ok") return end;
  return await opaque(call, placeholders);
}

/** How a write ends where it is to fail: by the first error that its tool declares. */
function failing({ tool: { tool, name } }: ReadyCall): Ended {
  const [declared] = tool.errors;
  return { ...ended({ outcome: "failed", code: declared?.code ?? "TOOL_FAILED", tool: name, message: `${declared?.description ?? `${name} failed`}. It fails in this rehearsal, to show what the program does then. Nothing was changed.`, retryable: false }), simulated: "schema" };
}

/** The same answer with other values in it. */
async function varied(call: ReadyCall, answer: Ended, how: ValueVariant): Promise<Ended> {
  const { outcome, simulated = "opaque" } = answer;
  if (outcome.kind !== "ok") return answer;
  const placeholders = createPlaceholders({ seq: call.request.seq, isVaried: true });
  if (simulated === "opaque") return how === "other" ? await opaque(call, placeholders) : answer;
  const isValid = async (value: unknown): Promise<boolean> => (await answered(call, value, simulated)).outcome.kind === "ok";
  const other = await variedValue(outcome.value, { how, schema: call.tool.tool.output, placeholders, isValid });
  return await answered(call, other, simulated);
}

/** No value is known that the tool could have answered: the program gets one that says so wherever it goes. */
async function opaque(call: ReadyCall, placeholders: Placeholders): Promise<Ended> {
  const { tool } = call;
  return await answered({ ...call, tool: { ...tool, validateOutput: (value) => ({ kind: "ok", value }) } }, placeholders.opaque(), "opaque");
}

async function answered(call: ReadyCall, value: unknown, by: SimulatedBy): Promise<Ended> {
  const end = await validateOutput({ ...call, effect: "read" }, { kind: "performed", value, artifacts: [], attempts: 0 });
  return { ...end, simulated: by };
}

import { encodeValue, defaultValueBounds, decodeValue, ValueError } from "@callgate/contract";
import type { Artifact, CallOutcome, EffectStatus, ParseResult, WireValue } from "@callgate/contract";
import { listIssues } from "../lib/list-issues.ts";
import type { Raced } from "../lib/race.ts";
import type { Ended, ReadyCall } from "./call.ts";
import { ended, withEffect } from "./ended.ts";
import type { EndedInit } from "./ended.ts";
import { judge } from "./judge.ts";
import type { Performed } from "./perform.ts";
import { concealSecrets } from "./secret-arguments.ts";
import { readThrown } from "./thrown.ts";
import { placed } from "./validate-input.ts";

/**
 * Holds the result against the tool's output schema and turns it into bytes. A write whose output is wrong has happened
 * all the same, and its error says so.
 */
export function validateOutput(call: ReadyCall, performed: Performed): Ended | Promise<Ended> {
  // Cancelling now would lose what is already known; only the deadline counts.
  const parsed = judge(() => call.tool.validateOutput(performed.value), { clock: call.seams.clock, timeoutMs: call.tool.tool.timeoutMs, byAuthor: call.tool.tool.parseOutput !== undefined });
  return parsed instanceof Promise ? parsed.then((later) => conclude(call, performed, later)) : conclude(call, performed, parsed);
}

function conclude(call: ReadyCall, performed: Performed, parsed: Raced<ParseResult>): Ended {
  const effectStatus: EffectStatus = call.effect === "read" || performed.notApplied === true ? "none" : "done";
  const stop = (init: Pick<EndedInit, "outcome" | "code" | "message" | "path" | "details">): Ended =>
    ended({ tool: call.tool.name, effectStatus, attempts: performed.attempts, ...init, message: withEffect(init.message, call.effect, effectStatus) });

  const invalid = { outcome: "invalid_output", code: "INVALID_OUTPUT" } as const;
  if (parsed.kind === "threw") return stop({ ...invalid, message: `The output schema of ${call.tool.name} could not judge its result: ${readThrown(parsed.error, [], call.safe).message}` });
  if (parsed.kind !== "value") return stop({ ...invalid, message: `The output schema of ${call.tool.name} did not judge its result in time` });
  if (parsed.value.kind === "invalid") {
    const issues = parsed.value.issues.map(({ path, message }) => ({ path, message: call.safe.text(message) }));
    return stop({ ...invalid, message: `${call.tool.name} returned a value that does not match its output schema: ${listIssues(issues)}`, ...placed(issues) });
  }
  const { value } = parsed.value;
  try {
    const encoded = encodeBounded(value, call.request.limits.callResultBytes);
    const wire = concealSecrets(call, encoded);
    if (wire === undefined) return stop({ ...invalid, message: `The result of ${call.tool.name} holds a secret in a form that cannot be taken out of it, so nobody is given it` });
    const concealed = wire === encoded ? value : decodeValue(wire);
    return { kind: "ended", outcome: okOutcome(wire, performed.artifacts, effectStatus), wire, cached: false, attempts: performed.attempts, value: concealed };
  } catch (error) {
    if (!(error instanceof ValueError)) return stop({ ...invalid, message: `The result of ${call.tool.name} could not be read: ${readThrown(error, [], call.safe).message}` });
    if (error.code === "VALUE_UNSUPPORTED") return stop({ ...invalid, code: error.code, message: error.message, path: error.path });
    if (error.bound !== "maxChars") {
      return stop({ ...invalid, code: error.code, message: `The result of ${call.tool.name} cannot cross: ${error.message}. The tool has to return it flatter, or parts of it as text`, path: error.path });
    }
    const limitValue = call.request.limits.callResultBytes;
    return stop({
      outcome: "limit_exceeded",
      code: "LIMIT_EXCEEDED",
      message: `The result of ${call.tool.name} is larger than a program may take in (callResultBytes ${limitValue}): ask for less, page by page or with a filter. ${error.message}`,
      details: { limit: "callResultBytes", limitValue },
    });
  }
}

function encodeBounded(value: unknown, maxBytes: number): WireValue {
  const wire = encodeValue(value, { ...defaultValueBounds, maxChars: maxBytes });
  const bytes = Buffer.byteLength(wire.json);
  if (bytes > maxBytes) throw new ValueError("VALUE_TOO_LARGE", `The value is ${bytes} bytes of JSON, the bound is ${maxBytes}`, { path: "", bound: "maxChars" });
  return wire;
}

/**
 * A good end. The value is rebuilt from its bytes when somebody asks for it, so that nobody shares an object with the
 * tool or with another call, and a program, which gets the bytes, does not pay for it.
 */
export function okOutcome(wire: WireValue, artifacts: readonly Artifact[], effectStatus: EffectStatus): CallOutcome {
  let rebuilt: { readonly value: unknown } | undefined;
  return {
    kind: "ok",
    effectStatus,
    artifacts,
    get value() {
      rebuilt ??= { value: decodeValue(wire, { ...defaultValueBounds, maxChars: Number.POSITIVE_INFINITY }) };
      return rebuilt.value;
    },
  };
}

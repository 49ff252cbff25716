import { CallgateError, decodeValue } from "@callgate/contract";
import type { GuestCompletion, GuestError, JsonValue, Recording, RecordingAnswer, RecordingResult, Redactor, WireValue } from "@callgate/contract";
import { z } from "zod";
import { digestOfWire } from "../lib/digest.ts";
import type { BookedAnswer } from "./answer-book.ts";
import { wireOf } from "./recording-value.ts";
import type { RerunSource } from "./rerun-source.ts";

const wire = z.strictObject({ json: z.string(), tagged: z.boolean() });
const json: z.ZodType<JsonValue> = z.json() as z.ZodType<JsonValue>;
const value = z.union([z.strictObject({ value: json }), wire]);
const result = z.discriminatedUnion("kind", [z.strictObject({ kind: z.literal("value"), value }), z.strictObject({ kind: z.literal("error"), error: z.looseObject({ name: z.string(), message: z.string() }) })]);
const head = { seq: z.int().nonnegative(), atMs: z.number() };
const shape = z.looseObject({
  format: z.literal(1),
  runId: z.string(),
  language: z.string(),
  program: z.string(),
  seed: z.string().regex(/^[0-9a-f]{32}$/),
  startedAtMs: z.number(),
  limits: z.record(z.string(), z.number()),
  tools: z.array(z.looseObject({ name: z.string().regex(/^[^.]+\.[^.]+$/), description: z.string(), effect: z.enum(["read", "write", "destructive"]) })),
  answers: z.array(
    z.discriminatedUnion("kind", [
      z.looseObject({ ...head, kind: z.literal("tool"), tool: z.string(), args: value, outcome: z.string(), simulated: z.enum(["tool", "example", "schema", "opaque"]).optional(), result }),
      z.looseObject({ ...head, kind: z.literal("builtin"), name: z.string(), args: value, result }),
      z.looseObject({ ...head, kind: z.literal("timer"), delayMs: z.number() }),
    ]),
  ),
});

/** Errors: `CallgateError` RECORDING_INVALID naming the place. */
function assertRecording(recording: unknown): asserts recording is Recording {
  const parsed = shape.safeParse(recording);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  throw new CallgateError("RECORDING_INVALID", `This is no recording of format 1: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown"}`);
}

/** The answers that a recording holds. Errors: `CallgateError` RECORDING_INVALID. */
export function readRecording(recording: Recording, redactor: Redactor): RerunSource {
  assertRecording(recording);
  const effects = new Map(recording.tools.map(({ name, effect }) => [name, effect]));
  return {
    startMs: recording.startedAtMs,
    answers: recording.answers.map((answer, order): BookedAnswer => {
      const { seq, atMs } = answer;
      if (answer.kind === "timer") return { order, seq, atMs, call: { kind: "timer", delayMs: answer.delayMs }, result: { kind: "value", value: { json: '{"$cg":"undefined"}', tagged: true } } };
      const args = wireOf(answer.args);
      const told = resultOf(answer.result);
      const argsDigest = digestOfWire(args);
      if (answer.kind === "builtin") return { order, seq, atMs, call: { kind: "builtin", name: answer.name, argsDigest }, result: told };
      return { order, seq, atMs, call: { kind: "tool", tool: answer.tool, argsDigest }, result: told, tool: { ...bookedOf(answer, redactor), effect: effects.get(answer.tool) ?? "write", args: recordOf(args, redactor) } };
    }),
  };
}

function resultOf(told: RecordingResult): GuestCompletion["result"] {
  return told.kind === "error" ? told : { kind: "value", value: wireOf(told.value) };
}

function bookedOf({ tool, outcome, simulated, result: told }: Extract<RecordingAnswer, { kind: "tool" }>, redactor: Redactor) {
  const common = { definitionDigest: undefined, outcome, effectStatus: "none" as const, durationMs: 0, ...(simulated === undefined ? {} : { simulated }) };
  return told.kind === "value" ? { ...common, value: recordOf(wireOf(told.value), redactor) } : { ...common, error: callErrorOf(tool, told.error) };
}

function callErrorOf(tool: string, { code = "TOOL_FAILED", message, retryable = false }: GuestError) {
  return { code, message, tool, retryable };
}

function recordOf(clear: WireValue, redactor: Redactor) {
  return redactor.record(decodeValue(clear), clear, []);
}

import { decodeValue, defaultLimits } from "@callgate/contract";
import type { GuestCompletion, GuestError, GuestJob, GuestModule, RunLimits } from "@callgate/contract";
import { createFrameSplitter, FrameError, maxHeadBytes } from "../frames/frame-splitter.ts";
import type { RawFrame } from "../frames/frame-splitter.ts";
import { parseHead } from "../frames/guest-frame.ts";
import { functionProtocolVersion } from "./round-frames.ts";

/** A run as a function gets it: the program, and all the answers its calls have had. */
export interface FunctionRequest {
  readonly job: GuestJob;
  readonly completions: readonly GuestCompletion[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a request, which anyone with the token may have written.
 *
 * @param maxPayloadBytes of one frame
 *
 * Throws `FrameError`.
 */
export function parseFunctionRequest(body: Uint8Array, maxPayloadBytes: number): FunctionRequest {
  const [first, ...rest] = createFrameSplitter({ headBytes: maxHeadBytes, payloadBytes: maxPayloadBytes }).push(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if (first === undefined) throw new FrameError("a request holds no job");
  return { job: parseJob(first), completions: rest.map(parseCompletion) };
}

function parseJob({ head, payload }: RawFrame): GuestJob {
  const job = parseHead(head);
  if (job["k"] !== "job") throw new FrameError("the first frame of a request is no job");
  if (job["protocol"] !== functionProtocolVersion) throw new FrameError(`this function speaks version ${functionProtocolVersion} of the protocol, the request ${String(job["protocol"])}`);
  const seed = textOf(job, "seed");
  if (!/^[0-9a-f]{32}$/.test(seed)) throw new FrameError('a job has no good "seed"');
  return { runId: textOf(job, "runId"), language: textOf(job, "language"), code: payload.toString("utf8"), modules: modulesOf(job["modules"]), modulesDigest: textOf(job, "modulesDigest"), seed, startMs: numberOf(job, "startMs"), limits: limitsOf(fieldsOf(job, "limits")) };
}

function modulesOf(value: unknown): readonly GuestModule[] {
  if (!Array.isArray(value)) throw new FrameError('a job has no good "modules"');
  return value.map((entry: unknown) => {
    const module = typeof entry === "object" && entry !== null ? (entry as Fields) : {};
    const tools = module["tools"];
    if (!Array.isArray(tools)) throw new FrameError('a job has no good "modules"');
    return { namespace: textOf(module, "namespace"), tools: tools.map((name: unknown) => (typeof name === "string" ? name : textOf({}, "modules"))), ...(module["open"] === true ? { open: true as const } : {}) };
  });
}

function limitsOf(given: Fields): RunLimits {
  const names = Object.keys(defaultLimits) as (keyof RunLimits)[];
  return Object.fromEntries(names.map((name) => {
    const value = numberOf(given, name);
    if (value <= 0) throw new FrameError(`a job has no good limit "${name}"`);
    return [name, value];
  })) as unknown as RunLimits;
}

function parseCompletion({ head, payload }: RawFrame): GuestCompletion {
  const done = parseHead(head);
  if (done["k"] !== "done") throw new FrameError("a frame came that is no answer");
  const seq = numberOf(done, "seq");
  const atMs = numberOf(done, "atMs");
  if (done["error"] !== undefined) return { seq, atMs, result: { kind: "error", error: errorOf(fieldsOf(done, "error")) } };
  const value = { json: payload.toString("utf8"), tagged: done["tagged"] === true };
  decodeValue(value);
  return { seq, atMs, result: { kind: "value", value } };
}

function errorOf(error: Fields): GuestError {
  const optional = ["code", "tool"].flatMap((name) => (typeof error[name] === "string" ? [[name, error[name]] as const] : []));
  const details = typeof error["details"] === "object" && error["details"] !== null ? (error["details"] as Fields) : undefined;
  return {
    name: textOf(error, "name"),
    message: textOf(error, "message"),
    ...Object.fromEntries(optional),
    ...(typeof error["retryable"] === "boolean" ? { retryable: error["retryable"] } : {}),
    ...(details === undefined ? {} : { details: { json: textOf(details, "json"), tagged: details["tagged"] === true } }),
  };
}

function fieldsOf(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new FrameError(`a request has no good "${name}"`);
  return value as Fields;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new FrameError(`a request has no good "${name}"`);
  return value;
}

function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new FrameError(`a request has no good "${name}"`);
  return value;
}

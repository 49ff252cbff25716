import type { CallResult, Gate, Handle, Lane, Principal, RunResult } from "@callgate/contract";
import { errorText, modelView } from "@callgate/runtime";
import { callProgram, callText, describeTools, findTools, readCallArguments, toModelText } from "@callgate/runtime/surface";
import type { GateToolName, ToolArguments } from "@callgate/runtime/surface";
import type { Answer } from "./answer.ts";
import { artifactBlocks } from "./artifact-blocks.ts";
import { renderRun, shapedRecord } from "./render-run.ts";

/** Who asks, and until when. */
export interface GateRequest {
  readonly gate: Gate;
  readonly principal: Principal;
  /** Into whose context the answer goes. */
  readonly conversation: string;
  /** The person in front of the client can be asked. */
  readonly canAsk: boolean;
  readonly signal: AbortSignal;
}

type Handlers = { readonly [Name in GateToolName]: (args: ToolArguments<Name>, request: GateRequest) => Promise<Answer> };

/** What each of our tools does. Nothing here reaches a tool but through the gate. */
export const toolHandlers: Handlers = {
  search_tools: findTools,
  get_tool_details: (args, request) => Promise.resolve(describeTools(args, request)),
  call_tool: call,
  execute_code: (args, request) => run(args, request, "execute"),
  query_code: (args, request) => run(args, request, "query"),
  read_result: readResult,
};

async function call({ name, arguments: args, budgetTokens }: ToolArguments<"call_tool">, request: GateRequest): Promise<Answer> {
  const { gate, principal, conversation, canAsk, signal } = request;
  const read = readCallArguments(args);
  if (read.kind === "inexact") {
    const where = read.paths.map((path) => `/arguments${path}`).join(", ");
    return { text: `INVALID_INPUT: ${where}: a whole number beyond 2^53 is rounded on its way here. Nothing was done. Send it as {"$bigint": "<digits>"}, or write it with an n (123n) in execute_code.`, isError: true };
  }
  const result = await gate.call(name, read.value, { principal, conversation, signal, ...(canAsk ? { questions: "refuse" } : {}), ...(budgetTokens === undefined ? {} : { budgetTokens }) });
  // A direct call waits in its process; a program waits in the journal, and goes on whoever brings the answer.
  if (canAsk && result.outcome.kind === "denied" && result.outcome.error.code === "APPROVAL_UNAVAILABLE") return await run({ code: callProgram(name, read.value), budgetTokens, taskId: undefined }, request, "execute");
  return { ...callAnswer(result), blocks: await artifactBlocks({ ...request, artifacts: result.artifacts }) };
}

function callAnswer(result: CallResult): Answer {
  const { runId, outcome, shaped } = result;
  const head = { runId, outcome: outcome.kind, effectStatus: outcome.effectStatus };
  const text = callText(result);
  if (outcome.kind === "ok") return { text, structured: { ...head, ...(shaped === undefined ? {} : shapedRecord(shaped)) } };
  return { text, structured: { ...head, error: modelView(outcome.error) }, isError: true };
}

async function run({ code, budgetTokens, taskId, rehearse }: ToolArguments<"query_code"> & Pick<ToolArguments<"execute_code">, "rehearse">, request: GateRequest, lane: Lane): Promise<Answer> {
  const { gate, principal, conversation, canAsk, signal } = request;
  const result = await gate.run(code, { principal, conversation, signal, lane, ...(canAsk ? { questions: "keep" } : {}), ...(budgetTokens === undefined ? {} : { budgetTokens }), ...(taskId === undefined ? {} : { taskId }), ...(rehearse === true ? { rehearse } : {}) });
  return await runAnswer(result, request);
}

/** A run for its client, whether it has ended or waits. */
export async function runAnswer(result: RunResult, request: GateRequest): Promise<Answer> {
  const questions = request.canAsk ? (result.waits ?? []).flatMap((wait) => (wait.kind === "approval" ? [wait.question] : [])) : [];
  return {
    ...renderRun(result),
    blocks: await artifactBlocks({ ...request, artifacts: result.artifacts }),
    ...(questions.length === 0 ? {} : { asks: { runId: result.runId, questions } }),
  };
}

/** Said of a run that goes on once it was answered, to who cannot be asked here. */
export function stillWaits(runId: string, why: string): Answer {
  return { text: `${why} The run ${runId} waits on. Once it was answered (callgate approvals ls), it goes on by itself; read what came of it with read_result and the handle run://${runId}. Do not run the program again.`, structured: { runId, status: "suspended", callCount: 0, durationMs: 0 } };
}

/** What came of a run that waited. It is not brought on by asking. */
async function readRun(runId: string, request: GateRequest): Promise<Answer> {
  const { gate, principal, signal } = request;
  const shown = await gate.runs.show(runId, { principal });
  if (shown === undefined) return { text: `HANDLE_NOT_FOUND: there is no run ${runId} for you`, structured: { error: { code: "HANDLE_NOT_FOUND" } }, isError: true };
  const { status } = shown.run;
  if (status === "running") return { text: `The run ${runId} goes on; ask again.`, structured: { runId, status } };
  if (status === "suspended") return stillWaits(runId, "It was not answered yet.");
  return await runAnswer(await gate.runs.resume(runId, { principal, signal }), request);
}

async function readResult({ handle, ...rest }: ToolArguments<"read_result">, request: GateRequest): Promise<Answer> {
  const { gate, principal, conversation, signal } = request;
  if (handle.startsWith("run://")) return await readRun(handle.slice("run://".length), request);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const result = await gate.read(handle as Handle, { principal, conversation, signal, ...given });
  switch (result.kind) {
    case "value": {
      const { value, total, nextOffset } = result;
      const rangeText = nextOffset === undefined ? "" : `\n\nNext: offset ${nextOffset}${total === undefined ? "" : ` of ${total}`}`;
      return { text: `${toModelText(value)}${rangeText}`, structured: { value: modelView(value), ...(total === undefined ? {} : { total }), ...(nextOffset === undefined ? {} : { nextOffset }) } };
    }
    case "artifact": {
      const { name, mimeType, bytes } = result;
      const blocks = await artifactBlocks({ gate, principal, signal, artifacts: [{ name, mimeType, sizeBytes: bytes.length, digest: "sha256:", handle: handle as Handle }] });
      return { text: `${name} (${mimeType}, ${bytes.length} bytes)`, structured: { value: { name, mimeType, sizeBytes: bytes.length } }, blocks };
    }
    case "error":
      return { text: errorText(result.error), structured: { error: modelView(result.error) }, isError: true };
  }
}

import type { Gate, Principal, ServerAnswer, ServerQuestion } from "@callgate/contract";
import type { CallToolResult, ElicitRequestFormParams, InputRequest, InputRequiredResult, RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { inputRequired, inputResponse, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { ClientAsker, ClientModes, HeldWork } from "./client-asker.ts";
import { askerOf } from "./client-questions.ts";
import type { AskedState, HeldState } from "./client-questions.ts";
import { startProgress } from "./progress.ts";

/** What a tool's request is answered. */
export type Served = CallToolResult | InputRequiredResult;

export interface HeldServing {
  readonly gate: Gate;
  readonly asker: ClientAsker;
  readonly codec: RequestStateCodec<AskedState>;
  readonly progressEveryMs: number;
  /** The question as the client's person reads it. */
  readonly messageOf: (question: ServerQuestion) => string;
}

export interface HeldRequest {
  readonly context: ServerContext;
  readonly principal: Principal;
  readonly tool: string;
  readonly modes: ClientModes;
  /** A run that goes on by it. */
  readonly runId?: string;
  start(signal: AbortSignal): Promise<Served>;
}

/**
 * Does the work of a request. Where a server behind the gate asks the person meanwhile, the client is told to ask, and the
 * work goes on once the request comes again with the answer: in both protocol eras, for a client of the older one is asked by
 * the SDK and its request made again there.
 */
export async function serveHeld(serving: HeldServing, request: HeldRequest): Promise<Served> {
  const { context, principal, modes } = request;
  const asked = context.mcpReq.requestState<AskedState>();
  const taken = asked?.kind === "held" ? takeUp(serving, asked, request) : undefined;
  // Before anything is begun: its first event is told too.
  const progress = startProgress({ gate: serving.gate, principal: taken?.principal ?? principal, context, everyMs: serving.progressEveryMs });
  try {
    const work = taken ?? serving.asker.hold({ gate: serving.gate, principal, modes, ...(request.runId === undefined ? {} : { runId: request.runId }), start: (signal) => request.start(signal) });
    // A request of the older era lasts until it has its answer; one of the newer is over when it has the question.
    const step = await work.next(context.mcpReq.signal, context.mcpReq.envelope === undefined);
    if (step.kind === "done") return step.result;
    const inputRequests = Object.fromEntries(step.questions.map(({ id, question }) => [id, elicitation(question, serving.messageOf(question))]));
    const state: AskedState = { kind: "held", heldId: work.id, tool: request.tool, asker: askerOf(principal), questionIds: step.questions.map(({ id }) => id) };
    return inputRequired({ inputRequests, requestState: await serving.codec.mint(state, context) });
  } finally {
    progress.stop();
  }
}

/** A request that comes again, with what a person has said to a server. */
function takeUp({ asker }: HeldServing, asked: HeldState, { context, principal, tool }: HeldRequest): HeldWork<Served> {
  if (asked.tool !== tool || asked.asker !== askerOf(principal)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This state belongs to another request");
  // What was held under this id was held by this endpoint for this tool: `serveHeld` made the state.
  const work = asker.find(asked.heldId) as HeldWork<Served> | undefined;
  if (work === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The call that asked is over: nobody came back to it in time, or its answer was fetched. Its outcome is on record (callgate runs ls)");
  for (const id of asked.questionIds) work.answer(id, answerOf(context.mcpReq.inputResponses, id));
  return work;
}

function answerOf(responses: Readonly<Record<string, unknown>> | undefined, id: string): ServerAnswer {
  const said = inputResponse(responses, id);
  if (said.kind !== "elicit" || said.action === "cancel") return { kind: "cancelled" };
  return said.action === "decline" ? { kind: "declined" } : { kind: "given", values: (said.content ?? {}) as Extract<ServerAnswer, { kind: "given" }>["values"] };
}

function elicitation(question: ServerQuestion, message: string): InputRequest {
  switch (question.kind) {
    case "form":
      return inputRequired.elicit({ mode: "form", message, requestedSchema: question.schema as ElicitRequestFormParams["requestedSchema"] });
    case "url":
      return inputRequired.elicitUrl({ message, url: question.url });
  }
}

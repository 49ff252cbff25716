import { randomBytes } from "node:crypto";
import type { ApprovalQuestion, Gate, Principal } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { CLIENT_CAPABILITIES_META_KEY, createRequestStateCodec, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import type { InputRequiredResult, RequestStateCodec, Server, ServerContext } from "@modelcontextprotocol/server";
import type { ClientModes } from "./client-asker.ts";
import { questionMessage } from "./question-message.ts";

/** What waits for the person in front of the client. It goes through the client and comes back sealed. */
export type AskedState = ApprovalState | HeldState;

/** A run that waits for approvals. */
export interface ApprovalState {
  readonly kind: "approvals";
  readonly runId: string;
  /** The tool of ours that was called. */
  readonly tool: string;
  /** Whose request it was. */
  readonly asker: string;
  readonly approvalIds: readonly string[];
}

/** Work that goes on in this process and waits for answers to a server behind the gate. */
export interface HeldState {
  readonly kind: "held";
  readonly heldId: string;
  readonly tool: string;
  readonly asker: string;
  readonly questionIds: readonly string[];
}

/** Seals what clients carry. One for all connections of a server; with its process the seal is gone, and the run waits on. */
export function createStateCodec(): RequestStateCodec<AskedState> {
  return createRequestStateCodec<AskedState>({ key: randomBytes(32), ttlSeconds: 24 * 60 * 60, bind: (context) => context.http?.authInfo?.clientId ?? "" });
}

/** What became of a question in the client. `closed`: the person said nothing. */
export type Heard = "answered" | "closed" | { readonly refused: string };

export interface ClientQuestionsOptions {
  readonly gate: Gate;
  readonly principal: Principal;
  readonly codec: RequestStateCodec<AskedState>;
}

/** Whether the person in front of this client can be asked, and their word counts without a key. */
export function canAskClient(server: Server, context: ServerContext, { gate, principal }: Pick<ClientQuestionsOptions, "gate" | "principal">): boolean {
  return clientModes(server, context).form && gate.approvals.mayAnswer(principal.user, { principal });
}

/** How this client can ask the person in front of it. */
export function clientModes(server: Server, context: ServerContext): ClientModes {
  const said = (context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const elicitation = typeof said === "object" && said !== null && "elicitation" in said ? said.elicitation : undefined;
  if (typeof elicitation !== "object" || elicitation === null) return { form: false, url: false };
  // One that names only the other way of asking, a page in a browser, has no form.
  return { form: "form" in elicitation || !("url" in elicitation), url: "url" in elicitation };
}

/** Asks the client for the answers: it sends the request again with them. */
export async function askClient({ gate, principal, codec }: ClientQuestionsOptions, { runId, tool, questions }: { readonly runId: string; readonly tool: string; readonly questions: readonly ApprovalQuestion[] }, context: ServerContext): Promise<InputRequiredResult> {
  const asked = await Promise.all(questions.map(async (question) => [question.approvalId, inputRequired.elicit({ mode: "form", message: questionMessage(question, await gate.approvals.show(question.approvalId, { principal })), requestedSchema: decisionSchema })] as const));
  const state: AskedState = { kind: "approvals", runId, tool, asker: askerOf(principal), approvalIds: questions.map(({ approvalId }) => approvalId) };
  return inputRequired({ inputRequests: Object.fromEntries(asked), requestState: await codec.mint(state, context) });
}

/** Whoever accepts the form without choosing has said no. */
const decisionSchema = {
  type: "object" as const,
  properties: {
    decision: { type: "string" as const, title: "Your decision", enum: ["deny", "approve"], default: "deny" },
    reason: { type: "string" as const, title: "Reason (told to the model when you deny)", maxLength: 500 },
  },
  required: ["decision"],
};

/** Takes the answers a client sends back. Errors: what the gate says of an answer that does not count is in `refused`. */
export async function hearClient({ gate, principal }: Pick<ClientQuestionsOptions, "gate" | "principal">, { approvalIds }: ApprovalState, responses: Readonly<Record<string, unknown>> | undefined): Promise<Heard> {
  let heard: Heard = "closed";
  for (const approvalId of approvalIds) {
    const said = inputResponse(responses, approvalId);
    if (said.kind !== "elicit" || said.action === "cancel") continue;
    const { decision, reason } = said.content ?? {};
    const approved = said.action === "accept" && decision === "approve";
    const why = typeof reason === "string" && reason.trim() !== "" ? reason.slice(0, 500) : undefined;
    try {
      await gate.approvals.answer(approvalId, { approved, by: principal.user, ...(why === undefined ? {} : { reason: why }) }, { principal });
      heard = "answered";
    } catch (fault) {
      if (!CallgateError.is(fault) || fault.code !== "SIGNAL_REFUSED") throw fault;
      return { refused: fault.message };
    }
  }
  return heard;
}

/** One client's state is none for another. */
export function askerOf({ tenant, user, agent }: Principal): string {
  return JSON.stringify([tenant, user, agent ?? null]);
}

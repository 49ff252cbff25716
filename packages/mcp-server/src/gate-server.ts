import { randomUUID } from "node:crypto";
import type { Gate, Principal } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { isGateTool, toolInputs } from "@callgate/runtime/surface";
import type { GateToolName, SurfaceText } from "@callgate/runtime/surface";
import { isTraced } from "@callgate/runtime/telemetry";
import type { RequestStateCodec, ServerCapabilities, ServerContext } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { toCallToolResult } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { askClient, askerOf, canAskClient, clientModes, hearClient } from "./client-questions.ts";
import type { ApprovalState, AskedState } from "./client-questions.ts";
import type { ClientAsker } from "./client-asker.ts";
import { clientProfile } from "./client-profile.ts";
import type { NoticeBoard } from "./notice-board.ts";
import type { PassThroughAsker, PassThroughRouter } from "./pass-through.ts";
import { conversationOf } from "./conversation.ts";
import { serveHeld } from "./serve-held.ts";
import type { Served } from "./serve-held.ts";
import { serverQuestionMessage } from "./server-question-message.ts";
import { toolDefinitions } from "./tool-definitions.ts";
import { runAnswer, stillWaits, toolHandlers } from "./tool-handlers.ts";
import type { GateRequest } from "./tool-handlers.ts";

export interface GateServerOptions {
  readonly gate: Gate;
  readonly name: string;
  readonly version: string;
  readonly principal: Principal;
  /** Names the context that answers go into: that of one client, unless it names one of its own. */
  readonly conversation: string;
  readonly progressEveryMs: number;
  readonly surface: (principal: Principal) => SurfaceText;
  readonly passThrough: PassThroughRouter;
  /** The person in front of a client that has forms is asked there. */
  readonly elicits: boolean;
  readonly codec: RequestStateCodec<AskedState>;
  /** Asks for servers behind the gate. */
  readonly asker: ClientAsker;
  /** For a connection of the older protocol era, which may be told of what sources say. */
  readonly board?: NoticeBoard | undefined;
  /** A fault of ours, with the id the client was told. */
  readonly onFault: (id: string, error: unknown) => void;
}

/** A program may ask often; each round is answered by a person. */
export const maxQuestionRounds = 64;
/** How long a dialogue of the older era stays open. After it the question waits on, for callgate approvals. */
export const answerWithinMs = 60 * 60 * 1000;

/** One protocol endpoint: a connection of the older era, or a single request of the newer one. Cheap; all state is outside. */
export function createGateServer(options: GateServerOptions): Server {
  const { gate, passThrough } = options;
  const server = new Server(
    { name: options.name, version: options.version },
    {
      capabilities: serverCapabilities(options.board),
      instructions: options.surface(options.principal).instructions,
      requestState: { verify: (state, context) => options.codec.verify(state, context) },
      inputRequired: { maxRounds: maxQuestionRounds, roundTimeoutMs: answerWithinMs },
    },
  );
  const principalOf = (context: ServerContext): Principal => {
    const { agent } = clientProfile(server, context);
    // A fresh object each time: progress finds the events of a request by it.
    // Who set the server up knows better than the client who acts.
    return { ...(agent === undefined ? {} : { agent }), ...options.principal };
  };
  const askerFor = (context: ServerContext): PassThroughAsker => ({ principal: principalOf(context), conversation: conversationOf(options.conversation, context), signal: context.mcpReq.signal });

  server.setRequestHandler("tools/list", (_request, context) => ({
    tools: toolDefinitions({ descriptions: options.surface(principalOf(context)).descriptions, structured: clientProfile(server, context).form === "both" }),
  }));
  server.setRequestHandler("tools/call", async (request, context): Promise<Served> => {
    const { name } = request.params;
    const principal = principalOf(context);
    if (!isGateTool(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(gate, name, principal));
    return await traced({ method: "tools/call", target: name, meta: context.mcpReq._meta }, async () => await serve(name, { args: request.params.arguments, context, principal }));
  });

  async function serve(name: GateToolName, { args, context, principal }: { readonly args: unknown; readonly context: ServerContext; readonly principal: Principal }): Promise<Served> {
    const serving = { gate, asker: options.asker, codec: options.codec, progressEveryMs: options.progressEveryMs, messageOf: serverQuestionMessage };
    const modes = options.elicits ? clientModes(server, context) : { form: false, url: false };
    const asked = context.mcpReq.requestState<AskedState>();
    const approvals = asked?.kind === "approvals" ? asked : undefined;
    return await serveHeld(serving, { context, principal, tool: name, modes, ...(approvals === undefined ? {} : { runId: approvals.runId }), start: (signal) => perform(name, { args, context, principal, approvals, signal }) });
  }

  async function perform(name: GateToolName, { args, context, principal, approvals, signal }: Performing): Promise<Served> {
    try {
      const gateRequest: GateRequest = { gate, principal, conversation: conversationOf(options.conversation, context), canAsk: options.elicits && canAskClient(server, context, { gate, principal }), signal };
      const answer = approvals === undefined ? await answerCall(name, args, gateRequest) : await goOn(approvals, { name, context, request: gateRequest });
      if (answer.asks !== undefined) return await askClient({ gate, principal, codec: options.codec }, { ...answer.asks, tool: name }, context);
      return toCallToolResult(answer, clientProfile(server, context).form);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return toCallToolResult(faultAnswer(error, options.onFault), "text");
    }
  }

  servePassThrough(server, passThrough, askerFor);
  options.board?.join({ server, principal: options.principal, askerOf: askerFor, resourceOf: passThrough.find, logsAtOnce: false });
  return server;
}

/** The newer era has no requests for notices: its clients open a stream, which the SDK serves. */
export function serverCapabilities(board: NoticeBoard | undefined): ServerCapabilities {
  return { tools: { listChanged: true }, resources: { listChanged: true, ...(board === undefined ? {} : { subscribe: true }) }, prompts: { listChanged: true }, ...(board === undefined ? {} : { logging: {} }) };
}

/** Resources and prompts of all sources. */
function servePassThrough(server: Server, passThrough: PassThroughRouter, askerFor: (context: ServerContext) => PassThroughAsker): void {
  server.setRequestHandler("resources/list", async (_request, context) => ({ resources: [...(await passThrough.resources(askerFor(context)))] }));
  server.setRequestHandler("resources/templates/list", async (_request, context) => ({ resourceTemplates: [...(await passThrough.templates(askerFor(context)))] }));
  server.setRequestHandler("resources/read", async (request, context) => {
    const contents = await passThrough.read(request.params.uri, askerFor(context));
    return {
      contents: contents.map(({ uri, mimeType, content }) => ({
        uri,
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(content.kind === "text" ? { text: content.text } : { blob: Buffer.from(content.bytes).toString("base64") }),
      })),
    };
  });
  server.setRequestHandler("prompts/list", async (_request, context) => ({ prompts: [...(await passThrough.prompts(askerFor(context)))] }));
  server.setRequestHandler("prompts/get", async (request, context) => {
    const messages = await passThrough.prompt(request.params.name, request.params.arguments ?? {}, askerFor(context));
    if (messages === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${request.params.name}"`);
    return { messages: [...messages] };
  });
}

interface Performing {
  readonly args: unknown;
  readonly context: ServerContext;
  readonly principal: Principal;
  /** The request comes again, with what a person has said to approvals of its run. */
  readonly approvals: ApprovalState | undefined;
  readonly signal: AbortSignal;
}

/** A span of its own for each request, where the host has an SDK for that. */
async function traced<Result>(request: { readonly method: string; readonly target: string; readonly meta: unknown }, work: () => Promise<Result>): Promise<Result> {
  if (!isTraced()) return await work();
  const { serveTraced } = await import("@callgate/runtime/tracing");
  return await serveTraced(request, work);
}

async function answerCall<Name extends GateToolName>(name: Name, args: unknown, request: GateRequest): Promise<Answer> {
  const parsed = toolInputs[name].safeParse(args ?? {});
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `/${issue.path.join("/")}: ${issue.message}`);
    return { text: `INVALID_INPUT: the arguments of ${name} do not match its schema. Nothing was done.\n${issues.join("\n")}`, isError: true };
  }
  // The input schema and the handler are found under the same name; TypeScript cannot follow that through the union.
  const handler = toolHandlers[name] as (parsedArgs: unknown, gateRequest: GateRequest) => Promise<Answer>;
  return handler(parsed.data, request);
}

/** A request that comes again, with what a person has said: its run goes on. */
async function goOn(asked: ApprovalState, { name, context, request }: { readonly name: string; readonly context: ServerContext; readonly request: GateRequest }): Promise<Answer> {
  const { gate, principal, signal } = request;
  if (asked.tool !== name || asked.asker !== askerOf(principal)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This state belongs to another request");
  const heard = await hearClient({ gate, principal }, asked, context.mcpReq.inputResponses);
  if (heard === "answered") return await runAnswer(await gate.runs.resume(asked.runId, { principal, signal }), request);
  return stillWaits(asked.runId, heard === "closed" ? "The question was closed without an answer." : heard.refused);
}

function unknownTool(gate: Gate, name: string, principal: Principal): string {
  const own = `This server's tools are ${Object.keys(toolInputs).join(", ")}`;
  const [behind] = gate.describe([name], { principal });
  if (behind !== undefined) return `"${name}" is behind the gate: use call_tool with { "name": "${name}", "arguments": {...} }. ${own}`;
  return `There is no tool "${name}". ${own}`;
}

/** Throws of the gate are faults of the set-up or of ours; stacks and paths stay here. */
function faultAnswer(error: unknown, onFault: GateServerOptions["onFault"]): Answer {
  const id = `fault_${randomUUID()}`;
  onFault(id, error);
  const text = CallgateError.is(error) ? `${error.code}: the gate could not do this (log id ${id}). Calling again is unlikely to help; tell the user.` : `INTERNAL: a fault of the gate itself (log id ${id}). Tell the user.`;
  return { text, isError: true };
}

import type { CallOutcome, Gate, JsonObject, Principal, SourcePassThrough, ToolView } from "@callgate/contract";
import { errorText } from "@callgate/runtime";
import { readCallArguments } from "@callgate/runtime/surface";
import type { CallToolResult, PromptMessage, ServerContext, Tool } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import { clientProfile } from "./client-profile.ts";
import { clientModes } from "./client-questions.ts";
import { conversationOf } from "./conversation.ts";
import { answerWithinMs, maxQuestionRounds, serverCapabilities } from "./gate-server.ts";
import type { GateServerOptions } from "./gate-server.ts";
import { serveHeld } from "./serve-held.ts";
import type { Served } from "./serve-held.ts";
import { toPrompt } from "./pass-through.ts";

export interface UpstreamServerOptions extends Pick<GateServerOptions, "gate" | "name" | "version" | "principal" | "conversation" | "progressEveryMs" | "elicits" | "codec" | "asker" | "board"> {
  /** Of the one source that is shown. Its calls must give whole answers (`McpSourceOptions.answers`). */
  readonly namespace: string;
}

/**
 * One source as it is, under its own names: tools with their own definitions, answers as they came, resources and prompts.
 * Every call passes the gate all the same: what the caller may not call is not listed, policy decides, the journal records.
 */
export function createUpstreamServer(options: UpstreamServerOptions): Server {
  const { gate, namespace } = options;
  const view = gate.namespaces({ principal: options.principal }).find((one) => one.namespace === namespace);
  const server = new Server(
    { name: options.name, version: options.version },
    { capabilities: serverCapabilities(options.board), requestState: { verify: (state, context) => options.codec.verify(state, context) }, inputRequired: { maxRounds: maxQuestionRounds, roundTimeoutMs: answerWithinMs }, ...(view?.purpose === undefined || view.purpose === "" ? {} : { instructions: view.purpose }) },
  );
  const askerOf = (context: ServerContext): Asker => {
    const { agent } = clientProfile(server, context);
    const principal: Principal = { ...(agent === undefined ? {} : { agent }), ...options.principal };
    return { principal, conversation: conversationOf(options.conversation, context), signal: context.mcpReq.signal };
  };
  const upstreamOf = ({ principal, conversation }: Asker): SourcePassThrough | undefined => gate.passThrough({ principal, conversation }).get(namespace);

  server.setRequestHandler("tools/list", async (_request, context) => {
    const asker = askerOf(context);
    const visible = new Set(toolsOf(gate, namespace, asker).map(({ spec }) => spec.name));
    const definitions = (await upstreamOf(asker)?.listTools?.(asker.signal)) ?? [];
    return { tools: definitions.filter(({ name }) => typeof name === "string" && visible.has(name)) as unknown as Tool[] };
  });
  server.setRequestHandler("tools/call", async (request, context): Promise<Served> => {
    const asker = askerOf(context);
    const { name, arguments: args = {} } = request.params;
    const tool = toolsOf(gate, namespace, asker).find(({ spec }) => spec.name === name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}"`);
    const read = readCallArguments(args);
    if (read.kind === "inexact") throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${read.paths.join(", ")}: a whole number beyond 2^53 is rounded on its way here; send it as {"$bigint": "<digits>"}. Nothing was done`);
    // The client knows whose tools these are: a question of the server is put in its own words.
    const serving = { gate, asker: options.asker, codec: options.codec, progressEveryMs: options.progressEveryMs, messageOf: ({ message }: { readonly message: string }) => message };
    const modes = options.elicits ? clientModes(server, context) : { form: false, url: false };
    return await serveHeld(serving, {
      context,
      principal: asker.principal,
      tool: name,
      modes,
      start: async (signal) => {
        const { outcome, artifacts } = await gate.call(tool.name, read.value, { ...asker, signal });
        return outcome.kind === "ok" ? await wholeAnswer(outcome.value, (index) => readBytes(gate, artifacts[index]?.handle, { ...asker, signal })) : refusal(outcome);
      },
    });
  });
  servePassThrough(server, askerOf, upstreamOf);
  options.board?.join({ server, principal: options.principal, askerOf, resourceOf: (uri, asker) => Promise.resolve(upstreamOf(asker) === undefined ? undefined : { namespace, uri }), logsAtOnce: true, namespace });
  return server;
}

/** Resources and prompts under the names that they have. */
function servePassThrough(server: Server, askerOf: (context: ServerContext) => Asker, upstreamOf: (asker: Asker) => SourcePassThrough | undefined): void {
  server.setRequestHandler("resources/list", async (_request, context) => {
    const asker = askerOf(context);
    return { resources: [...((await upstreamOf(asker)?.listResources(asker.signal)) ?? [])] };
  });
  server.setRequestHandler("resources/templates/list", async (_request, context) => {
    const asker = askerOf(context);
    return { resourceTemplates: [...((await upstreamOf(asker)?.listResourceTemplates(asker.signal)) ?? [])] };
  });
  server.setRequestHandler("resources/read", async (request, context) => {
    const asker = askerOf(context);
    const { uri } = request.params;
    const contents = (await upstreamOf(asker)?.readResource(uri, asker.signal).catch(() => [])) ?? [];
    if (contents.length === 0) throw new ResourceNotFoundError(uri);
    return { contents: contents.map((one) => ({ uri: one.uri, ...(one.mimeType === undefined ? {} : { mimeType: one.mimeType }), ...(one.content.kind === "text" ? { text: one.content.text } : { blob: Buffer.from(one.content.bytes).toString("base64") }) })) };
  });
  server.setRequestHandler("prompts/list", async (_request, context) => {
    const asker = askerOf(context);
    return { prompts: ((await upstreamOf(asker)?.listPrompts(asker.signal)) ?? []).map(toPrompt) };
  });
  server.setRequestHandler("prompts/get", async (request, context) => {
    const asker = askerOf(context);
    const messages = await upstreamOf(asker)?.getPrompt(request.params.name, request.params.arguments ?? {}, asker.signal);
    if (messages === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${request.params.name}"`);
    return { messages: messages.map(({ role, content }) => ({ role, content }) as PromptMessage) };
  });
}

interface Asker {
  readonly principal: Principal;
  readonly conversation: string;
  readonly signal: AbortSignal;
}

function toolsOf(gate: Gate, namespace: string, { principal }: Asker): readonly ToolView[] {
  return gate.tools({ principal }).filter((tool) => tool.namespace === namespace);
}

/** The answer with the bytes back in the blocks they were in. */
async function wholeAnswer(value: unknown, bytesOf: (index: number) => Promise<string | undefined>): Promise<CallToolResult> {
  const answer = value as JsonObject & { readonly content?: readonly JsonObject[] };
  const content = await Promise.all(
    (answer.content ?? []).map(async ({ artifact, ...block }) => {
      if (typeof artifact !== "number") return block;
      const data = (await bytesOf(artifact)) ?? "";
      const { resource } = block;
      return resource === undefined ? { ...block, data } : { ...block, resource: { ...(resource as JsonObject), blob: data } };
    }),
  );
  return { ...answer, content } as unknown as CallToolResult;
}

async function readBytes(gate: Gate, handle: Parameters<Gate["read"]>[0] | undefined, asker: Asker): Promise<string | undefined> {
  if (handle === undefined) return undefined;
  const read = await gate.read(handle, asker);
  return read.kind === "artifact" ? Buffer.from(read.bytes).toString("base64") : undefined;
}

/** What the tool failed with in its own words; what the gate refused with the code, for there is no other place for it. */
function refusal({ error, effectStatus }: Exclude<CallOutcome, { kind: "ok" }>): CallToolResult {
  const isOwn = error.code === "TOOL_FAILED";
  const effect = effectStatus === "unknown" ? "\nWhether anything was changed is unknown." : "";
  return { isError: true, content: [{ type: "text", text: isOwn ? error.message : `${errorText(error)}${effect}` }] };
}

import type { CallResult, Gate, Handle, JsonObject, Lane, Principal, ToolView, UnavailableNamespace } from "@callgate/contract";
import { errorText, modelView } from "@callgate/runtime";
import type { Answer } from "./answer.ts";
import { readCallArguments } from "./call-arguments.ts";
import { artifactBlocks } from "./artifact-blocks.ts";
import { toModelText } from "./model-text.ts";
import { renderRun, renderShaped, shapedRecord } from "./render-run.ts";
import type { GateToolName, ToolArguments } from "./tool-definitions.ts";

/** Who asks, and until when. */
export interface GateRequest {
  readonly gate: Gate;
  readonly principal: Principal;
  /** Into whose context the answer goes. */
  readonly conversation: string;
  readonly signal: AbortSignal;
}

type Handlers = { readonly [Name in GateToolName]: (args: ToolArguments<Name>, request: GateRequest) => Promise<Answer> };

/** What each of our tools does. Nothing here reaches a tool but through the gate. */
export const toolHandlers: Handlers = {
  search_tools: (args, request) => Promise.resolve(search(args, request)),
  get_tool_details: (args, request) => Promise.resolve(details(args, request)),
  call_tool: call,
  execute_code: (args, request) => run(args, request, "execute"),
  query_code: (args, request) => run(args, request, "query"),
  read_result: readResult,
};

/** With what the list may lack because its source cannot be reached. */
function search(args: ToolArguments<"search_tools">, request: GateRequest): Answer {
  const found = searchKnown(args, request);
  const away = unavailable(request).filter(({ namespace }) => args.namespace === undefined || args.namespace === namespace);
  if (away.length === 0) return found;
  return { ...found, text: [found.text, ...away.map(({ message }) => message)].join("\n\n"), structured: { ...found.structured, unavailable: away.map((one) => ({ ...one })) } };
}

function unavailable({ gate, principal }: GateRequest): readonly UnavailableNamespace[] {
  return gate.namespaces({ principal }).flatMap((view) => view.unavailable ?? []);
}

function searchKnown({ query, namespace, limit, detail }: ToolArguments<"search_tools">, { gate, principal }: GateRequest): Answer {
  const hits = gate.search(query, { principal, limit, ...(namespace === undefined ? {} : { namespace }) });
  if (hits.length === 0) {
    const names = gate.namespaces({ principal }).flatMap(({ namespace, toolCount }) => (toolCount > 0 ? [namespace] : []));
    return { text: `No tool matches "${query}". Namespaces: ${names.join(", ") || "none"}. Try other words, or one of these as namespace.`, structured: { tools: [] } };
  }
  switch (detail) {
    case "name":
      return { text: hits.map((hit) => hit.name).join("\n"), structured: { tools: hits.map(({ name }) => ({ name })) } };
    case "line":
      return { text: hits.map((hit) => `${hit.name} [${hit.spec.effect}]: ${hit.line}`).join("\n"), structured: { tools: hits.map(({ name, line, spec }) => ({ name, effect: spec.effect, line })) } };
    case "signature":
      return {
        text: hits.map((hit) => `${hit.namespace}.${hit.signature} // [${hit.spec.effect}] ${hit.line}`).join("\n"),
        structured: { tools: hits.map(({ name, line, signature, spec }) => ({ name, effect: spec.effect, signature, line })) },
      };
    case "full":
      return describeAll(hits);
  }
}

function details({ names }: ToolArguments<"get_tool_details">, request: GateRequest): Answer {
  const { gate, principal } = request;
  const away = unavailable(request);
  const views = gate.describe(names, { principal });
  const known = new Set(views.map((view) => view.name));
  const unknown = names.filter((name) => !known.has(name)).map((name) => ({ name, nearest: [...gate.nearest(name, { principal })] }));
  const answer = describeAll(views);
  if (unknown.length === 0) return answer;
  const missing = unknown.map(({ name, nearest }) => away.find(({ namespace }) => name.startsWith(`${namespace}.`))?.message ?? `There is no tool "${name}".${nearest.length === 0 ? " Use search_tools." : ` Nearest: ${nearest.join(", ")}`}`);
  return { text: [answer.text, ...missing].filter((part) => part !== "").join("\n\n"), structured: { ...answer.structured, unknown }, ...(views.length === 0 ? { isError: true } : {}) };
}

function describeAll(views: readonly ToolView[]): Answer {
  return { text: views.map(fullText).join("\n\n"), structured: { tools: views.map(fullRecord) } };
}

function fullText({ name, signature, spec }: ToolView): string {
  return [
    `${name} [${spec.effect}]${spec.deprecated === undefined ? "" : ` deprecated: ${spec.deprecated}`}`,
    spec.description,
    ...(spec.whenToUse === undefined ? [] : [`When to use: ${spec.whenToUse}`]),
    signature,
    ...(spec.secrets === undefined ? [] : [`may be given ${spec.secrets.map((name) => `"secret://${name}"`).join(", ")} as the whole of a text: it gets the value`]),
    ...spec.errors.map((error) => `fails with ${error.code}: ${error.description}`),
    ...spec.examples.map((example) => `example: ${JSON.stringify(example.input)}${example.description === undefined ? "" : ` // ${example.description}`}`),
  ].join("\n");
}

function fullRecord({ name, signature, spec }: ToolView): JsonObject {
  return {
    name,
    effect: spec.effect,
    description: spec.description,
    ...(spec.whenToUse === undefined ? {} : { whenToUse: spec.whenToUse }),
    ...(spec.deprecated === undefined ? {} : { deprecated: spec.deprecated }),
    signature,
    ...(spec.secrets === undefined ? {} : { secrets: spec.secrets.map((name) => `secret://${name}`) }),
    ...(spec.errors.length === 0 ? {} : { errors: spec.errors.map(({ code, description }) => ({ code, description })) }),
    ...(spec.examples.length === 0 ? {} : { examples: spec.examples.map(({ input }) => input) }),
  };
}

async function call({ name, arguments: args, budgetTokens }: ToolArguments<"call_tool">, request: GateRequest): Promise<Answer> {
  const { gate, principal, conversation, signal } = request;
  const read = readCallArguments(args);
  if (read.kind === "inexact") {
    const where = read.paths.map((path) => `/arguments${path}`).join(", ");
    return { text: `INVALID_INPUT: ${where}: a whole number beyond 2^53 is rounded on its way here. Nothing was done. Send it as {"$bigint": "<digits>"}, or write it with an n (123n) in execute_code.`, isError: true };
  }
  const result = await gate.call(name, read.value, { principal, conversation, signal, ...(budgetTokens === undefined ? {} : { budgetTokens }) });
  return { ...callAnswer(result), blocks: await artifactBlocks({ ...request, artifacts: result.artifacts }) };
}

function callAnswer({ runId, outcome, shaped }: CallResult): Answer {
  const head = { runId, outcome: outcome.kind, effectStatus: outcome.effectStatus };
  if (outcome.kind === "ok") {
    return shaped === undefined ? { text: "(no value)", structured: head } : { text: renderShaped(shaped), structured: { ...head, ...shapedRecord(shaped) } };
  }
  const effect = outcome.effectStatus === "none" ? "Nothing was changed." : outcome.effectStatus === "done" ? "The change took place." : "Whether anything was changed is unknown; find out before you call again.";
  return { text: `${errorText(outcome.error)}\n${effect}`, structured: { ...head, error: modelView(outcome.error) }, isError: true };
}

async function run({ code, budgetTokens, taskId }: ToolArguments<"execute_code">, request: GateRequest, lane: Lane): Promise<Answer> {
  const { gate, principal, conversation, signal } = request;
  const result = await gate.run(code, { principal, conversation, signal, lane, ...(budgetTokens === undefined ? {} : { budgetTokens }), ...(taskId === undefined ? {} : { taskId }) });
  return { ...renderRun(result), blocks: await artifactBlocks({ ...request, artifacts: result.artifacts }) };
}

async function readResult({ handle, ...rest }: ToolArguments<"read_result">, { gate, principal, conversation, signal }: GateRequest): Promise<Answer> {
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

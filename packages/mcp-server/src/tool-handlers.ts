import type { CallResult, Gate, Handle, JsonObject, Lane, Principal, RunResult, ToolView, UnavailableNamespace } from "@callgate/contract";
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
  /** The person in front of the client can be asked. */
  readonly canAsk: boolean;
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
  const { gate, principal, conversation, canAsk, signal } = request;
  const read = readCallArguments(args);
  if (read.kind === "inexact") {
    const where = read.paths.map((path) => `/arguments${path}`).join(", ");
    return { text: `INVALID_INPUT: ${where}: a whole number beyond 2^53 is rounded on its way here. Nothing was done. Send it as {"$bigint": "<digits>"}, or write it with an n (123n) in execute_code.`, isError: true };
  }
  const result = await gate.call(name, read.value, { principal, conversation, signal, ...(canAsk ? { questions: "refuse" } : {}), ...(budgetTokens === undefined ? {} : { budgetTokens }) });
  // A direct call waits in its process; a program waits in the journal, and goes on whoever brings the answer.
  if (canAsk && result.outcome.kind === "denied" && result.outcome.error.code === "APPROVAL_UNAVAILABLE") return await run({ code: callText(name, read.value), budgetTokens, taskId: undefined }, request, "execute");
  return { ...callAnswer(result), blocks: await artifactBlocks({ ...request, artifacts: result.artifacts }) };
}

/** The program of one call. JSON is a part of JavaScript; a big integer is written as one. */
function callText(name: string, args: unknown): string {
  return `return await tools.${name}(${literal(args)});`;
}

function literal(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  // `__proto__` in quotes would set a prototype.
  return `{ ${Object.entries(value).map(([key, item]) => `[${JSON.stringify(key)}]: ${literal(item)}`).join(", ")} }`;
}

function callAnswer({ runId, outcome, shaped }: CallResult): Answer {
  const head = { runId, outcome: outcome.kind, effectStatus: outcome.effectStatus };
  if (outcome.kind === "ok") {
    return shaped === undefined ? { text: "(no value)", structured: head } : { text: renderShaped(shaped), structured: { ...head, ...shapedRecord(shaped) } };
  }
  const effect = outcome.effectStatus === "none" ? "Nothing was changed." : outcome.effectStatus === "done" ? "The change took place." : "Whether anything was changed is unknown; find out before you call again.";
  return { text: `${errorText(outcome.error)}\n${effect}`, structured: { ...head, error: modelView(outcome.error) }, isError: true };
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

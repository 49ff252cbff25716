import { CallgateError } from "@callgate/contract";
import type { BackgroundJob, OlderVersion, Tool, ToolContext, ToolHooks, ToolSpec } from "@callgate/contract";
import { normalizeSchema } from "./schema-input.ts";
import type { Parsed, SchemaInput, Unparsed } from "./schema-input.ts";

/** Deadline of one attempt of a tool that names none. */
export const defaultTimeoutMs = 30_000;

type Defaulted = "title" | "effect" | "tags" | "permissions" | "labels" | "version" | "timeoutMs" | "examples" | "errors";

/** What `defineTool` takes: a `ToolSpec` whose schemas may come from a schema library, and the code. */
export interface ToolDefinition<Input extends SchemaInput, Output extends SchemaInput | undefined>
  extends Omit<ToolSpec, Defaulted | "name" | "input" | "output">,
    Partial<Pick<ToolSpec, Defaulted>> {
  /** May be left out in a tools folder, where the export's name stands in. */
  readonly name?: string;
  readonly input: Input;
  readonly output?: Output;
  /** Interfaces it had before and still answers to; `defineOlderVersion` makes one of schemas. */
  readonly older?: readonly OlderVersion[];
  /** A `BackgroundJob` says that the work goes on without the handler. */
  handler(args: Parsed<Input>, context: ToolContext): Promise<Returned<Output> | BackgroundJob> | Returned<Output> | BackgroundJob;
  precheck?(args: Parsed<Input>, context: ToolContext): Promise<void> | void;
  summarize?(output: Given<Output>): unknown;
  simulate?(args: Parsed<Input>, context: ToolContext): Promise<Returned<Output>> | Returned<Output>;
  compensate?(args: Parsed<Input>, output: Given<Output>, context: ToolContext): Promise<void> | void;
  reconcile?: ToolHooks<Parsed<Input>, Returned<Output>>["reconcile"];
  poll?: ToolHooks<Parsed<Input>, Returned<Output>>["poll"];
  cancelJob?: ToolHooks["cancelJob"];
  businessKey?(args: Parsed<Input>): string | undefined;
}

/** What a handler returns, before the output schema parses it. */
type Returned<Output> = Output extends SchemaInput ? Unparsed<Output> : unknown;
/** What is handed on, after the output schema parsed it. */
type Given<Output> = Output extends SchemaInput ? Parsed<Output> : unknown;

const BRAND = Symbol.for("callgate.tool");

const hookNames = ["precheck", "summarize", "simulate", "compensate", "reconcile", "poll", "cancelJob", "businessKey"] as const;

/** Fields that are copied as they are when they are given. */
const optionalFields = ["title", "whenToUse", "deprecated", "retry", "cache", "idempotent", "reread", "paged", "concurrency", "cost", "sensitive", "detect"] as const;

/**
 * Makes a tool of a function. Types flow from the schemas to the handler.
 *
 * Left out, `effect` is `write` (what is not known to be harmless is not), `timeoutMs` 30,000, `version` "1", lists are
 * empty. The handler gets the arguments as the schema parsed them; what it returns is parsed by `output` where given.
 *
 * Errors: `CallgateError` TOOL_INVALID when a schema is none or the handler is missing. Names and schemas are judged
 * when the tool is registered.
 */
export function defineTool<const Input extends SchemaInput, const Output extends SchemaInput | undefined = undefined>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const owner = definition.name === undefined ? "a tool without a name" : `tool "${definition.name}"`;
  if (typeof definition.handler !== "function") {
    throw new CallgateError("TOOL_INVALID", `${owner} has no handler: add handler(args, context) { ... }`);
  }
  const input = normalizeSchema(definition.input, `${owner}: input`, "input");
  const output = definition.output === undefined ? undefined : normalizeSchema(definition.output, `${owner}: output`, "output");
  const tool: Tool = {
    ...pick(definition, optionalFields),
    ...boundHooks(definition),
    name: definition.name ?? "",
    description: definition.description,
    input: input.json,
    ...(output === undefined ? {} : { output: output.json }),
    effect: definition.effect ?? "write",
    tags: definition.tags ?? [],
    permissions: definition.permissions ?? [],
    labels: definition.labels ?? [],
    version: definition.version ?? "1",
    timeoutMs: definition.timeoutMs ?? defaultTimeoutMs,
    examples: definition.examples ?? [],
    errors: definition.errors ?? [],
    ...(input.parse === undefined ? {} : { parseInput: input.parse }),
    ...(output?.parse === undefined ? {} : { parseOutput: output.parse }),
    ...(definition.older === undefined ? {} : { older: definition.older }),
  };
  Object.defineProperty(tool, BRAND, { value: true });
  return Object.freeze(tool);
}

function pick<Source extends object, Key extends keyof Source>(source: Source, keys: readonly Key[]): Partial<Pick<Source, Key>> {
  const picked: Partial<Pick<Source, Key>> = {};
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key];
  return picked;
}

/** The hooks with their types erased; arguments were parsed by the tool's own schema before any of them is called. */
function boundHooks(definition: object): ToolHooks {
  const hooks = definition as ToolHooks;
  const bound: Record<string, unknown> = { handler: hooks.handler.bind(definition) };
  for (const name of hookNames) if (hooks[name] !== undefined) bound[name] = hooks[name].bind(definition);
  return bound as unknown as ToolHooks;
}

/** True for what `defineTool` returned, from any copy of this package: a folder's exports are told apart by it. */
export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && BRAND in value;
}

import { decodeValue, encodeValue, ValueError } from "@callgate/contract";
import type { CallError, GuestCall, GuestCompletion, ReadResult } from "@callgate/contract";
import { signatureWith } from "../catalog/catalog-tool.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { PartOptions } from "../result/read-part.ts";
import { guestErrorOf } from "./guest-error.ts";
import type { RunScope } from "./run-scope.ts";

/** Reads kept results for a program, as its principal. */
export type BuiltinReader = (handle: string, options: PartOptions) => Promise<ReadResult>;

type Builtin = Extract<GuestCall, { kind: "builtin" }>;
type Result = GuestCompletion["result"];

/** Answers `tools.search`, `tools.describe` and `results.read`. Never rejects; a wrong use is an error the program can catch. */
export async function answerBuiltin(scope: RunScope, call: Builtin, reader: BuiltinReader): Promise<Result> {
  try {
    const args = readArguments(call);
    switch (call.name) {
      case "search":
        return value(await search(scope, args));
      case "describe":
        return value(describe(scope, args));
      case "read_result":
        return await read(scope, args, reader);
      case "sleep":
      case "wait_for":
        return failed(call.name, "UNSUPPORTED", `${call.name} is not answered by this gate`);
    }
  } catch (fault) {
    if (fault instanceof ValueError) return failed(call.name, fault.code, fault.message);
    if (fault instanceof Misuse) return failed(call.name, "INVALID_INPUT", fault.message);
    return failed(call.name, "INTERNAL", `${call.name} could not be answered: a fault of the gate`);
  }
}

type Arguments = Readonly<Record<string, unknown>>;

/** Not for outside: becomes an INVALID_INPUT. */
class Misuse extends Error {}

function readArguments({ args }: Builtin): Arguments {
  const decoded = decodeValue(args);
  if (typeof decoded !== "object" || decoded === null || Array.isArray(decoded)) throw new Misuse("The arguments must be an object");
  return decoded as Arguments;
}

function text(args: Arguments, name: string): string | undefined {
  const given = args[name];
  if (given !== undefined && typeof given !== "string") throw new Misuse(`"${name}" must be a string, not ${given === null ? "null" : typeof given}`);
  return given;
}

function whole(args: Arguments, name: string): number | undefined {
  const given = args[name];
  if (given !== undefined && !(typeof given === "number" && Number.isSafeInteger(given) && given >= 0)) throw new Misuse(`"${name}" must be a whole number from 0`);
  return given;
}

function value(answer: unknown): Result {
  return { kind: "value", value: encodeValue(answer) };
}

function failed(tool: string, code: string, message: string): Result {
  return { kind: "error", error: guestErrorOf({ code, message, tool, retryable: false }) };
}

async function search(scope: RunScope, args: Arguments): Promise<unknown> {
  const query = text(args, "query");
  if (query === undefined) throw new Misuse("search needs what the tool should do, as a string");
  const namespace = text(args, "namespace");
  const { catalog, visible, unavailable } = scope.view;
  // The answer is a list; that it may lack something is said beside it.
  for (const one of unavailable) if (namespace === undefined || namespace === one.namespace) scope.notices.add(one.message);
  const detail = text(args, "detail") ?? "signature";
  const options = { limit: Math.min(whole(args, "limit") ?? 10, 100), visible, onNotice: (message: string) => scope.notices.add(message) };
  if (detail === "namespace") return await catalog.searchNamespaces(query, options);
  const hits = await catalog.search(query, { ...options, ...(namespace === undefined ? {} : { namespace }) });
  return hits.map(({ tool, score }) => ({ ...shown(tool, detail, scope), score }));
}

function describe(scope: RunScope, args: Arguments): unknown {
  const { names } = args;
  if (!Array.isArray(names)) throw new Misuse("describe needs the names of tools, as a list of strings");
  const asked = names.slice(0, 100);
  for (const { namespace, message } of scope.view.unavailable) if (asked.some((name) => typeof name === "string" && name.startsWith(`${namespace}.`))) scope.notices.add(message);
  return asked.flatMap((name: unknown) => {
    const tool = typeof name === "string" ? scope.view.catalog.resolve(name) : undefined;
    return tool === undefined || !scope.view.visible(tool) ? [] : [shown(tool, "full", scope)];
  });
}

function shown(tool: CatalogTool, detail: string, { view }: RunScope): Readonly<Record<string, unknown>> {
  const { name, line, tool: spec } = tool;
  const learned = view.learned(tool);
  const signature = detail === "signature" || detail === "full" ? signatureWith(tool, learned) : "";
  switch (detail) {
    case "name":
      return { name };
    case "line":
      return { name, line };
    case "full":
      return { name, line, signature, description: spec.description, effect: spec.effect, input: spec.input, ...(spec.output === undefined ? {} : { output: spec.output }), ...(learned === undefined ? {} : { observedOutput: { calls: learned.calls, schema: learned.schema } }), errors: spec.errors, examples: spec.examples };
    case "signature":
      return { name, line, signature, effect: spec.effect };
    default:
      throw new Misuse(`"detail" must be "namespace", "name", "line", "signature" or "full"`);
  }
}

async function read(scope: RunScope, args: Arguments, reader: BuiltinReader): Promise<Result> {
  const handle = text(args, "handle");
  if (handle === undefined) throw new Misuse("results.read needs a handle, such as \"result://run_.../1\"");
  const options: { -readonly [Key in keyof PartOptions]: PartOptions[Key] } = {};
  for (const name of ["path", "grep", "search"] as const) {
    const given = text(args, name);
    if (given !== undefined) options[name] = given;
  }
  for (const name of ["offset", "limit"] as const) {
    const given = whole(args, name);
    if (given !== undefined) options[name] = given;
  }
  return resultOfRead(scope, await reader(handle, options));
}

function resultOfRead(scope: RunScope, result: ReadResult): Result {
  switch (result.kind) {
    case "error":
      return { kind: "error", error: guestErrorOf(result.error) };
    case "artifact":
      return bounded(scope, { name: result.name, mimeType: result.mimeType, bytes: result.bytes });
    case "value":
      return bounded(scope, result.value);
  }
}

function bounded(scope: RunScope, answer: unknown): Result {
  const wire = encodeValue(answer);
  const { callResultBytes } = scope.limits;
  if (Buffer.byteLength(wire.json) <= callResultBytes) return { kind: "value", value: wire };
  const error: CallError = { code: "LIMIT_EXCEEDED", message: `The result is over the limit of ${callResultBytes} bytes (callResultBytes). Read a part of it: path, offset and limit, grep`, tool: "read_result", retryable: false, details: { limit: "callResultBytes", limitValue: callResultBytes } };
  return { kind: "error", error: guestErrorOf(error) };
}


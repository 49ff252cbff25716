import { parseLosslessJson } from "@callgate/contract";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { createLineSplitter } from "./line-splitter.ts";
import type { Line } from "./line-splitter.ts";
import { receivedText } from "./received-text.ts";
import { carriesBody, wrapBody } from "./result-body.ts";
import { isRecord } from "./is-record.ts";

/** Lines that were no JSON-RPC message, and the first of them. */
export interface Garbage {
  readonly count: number;
  readonly first: string | undefined;
}

/** Answers that could not be read as such or answer nothing, and what was wrong with the last. */
export interface Malformed {
  readonly count: number;
  readonly last: string | undefined;
}

export interface MessageReader {
  /** Notes a message of ours: whose answer is still to come, and which may have to be carried past the SDK's schemas. */
  expect(message: JSONRPCMessage): void;
  /** Messages for the SDK. An answer that is none becomes an error answer to the request it can be put down to. */
  push(chunk: Uint8Array): readonly JSONRPCMessage[];
  /** The same of one whole message, however it came. */
  read(text: string): readonly JSONRPCMessage[];
  /** Whether a request of ours waits for its answer. */
  isPending(id: number): boolean;
  /** Its answer will not come. */
  forget(id: number): void;
  garbage: () => Garbage;
  malformed: () => Malformed;
}

/** Our own JSON-RPC error codes: an answer over the bound, one that is no answer, and one that will not come. */
export const oversizedCode = -32_091;
export const malformedCode = -32_092;
export const lostCode = -32_093;

/** Reads the lines of a server. Memory is bounded by `maxMessageBytes` and the requests under way. */
export function createMessageReader(maxMessageBytes: number): MessageReader {
  const splitter = createLineSplitter(maxMessageBytes);
  const requests = createRequests();
  const garbage = { count: 0, first: undefined as string | undefined };
  const malformed = { count: 0, last: undefined as string | undefined };

  const note = (what: string): void => {
    malformed.count++;
    malformed.last = what;
  };
  /** Nothing the SDK could read. Fails the request it was meant for, where that can be told. */
  const refuse = (text: string, what: string, id: number | undefined): readonly JSONRPCMessage[] => {
    if (id === undefined) {
      garbage.count++;
      garbage.first ??= text.slice(0, 120);
      return [];
    }
    const message = `${what}. Received: ${receivedText(text)}`;
    note(message);
    requests.settle(id);
    return [{ jsonrpc: "2.0", id, error: { code: malformedCode, message } }];
  };
  const readText = (text: string): readonly JSONRPCMessage[] => {
    const parsed = parse(text);
    if (parsed.kind === "no_json") return refuse(text, "It is not JSON", requests.pendingOf(idInText(text)));
    const { value } = parsed;
    const fault = envelopeFault(value, requests.isPending);
    if (fault !== undefined) return refuse(text, fault, meansToAnswer(value) ? requests.pendingOf(idOf(value), hasVersion(value)) : undefined);
    const message = value as JSONRPCMessage;
    if ("method" in message) return [message];
    if (!requests.isPending(message.id)) {
      // What was answered or given up before may be answered again. An id that was never sent fails no call: a stray answer
      // must not be able to (security mcp-014); it is told with the source.
      if (!requests.wasSent(message.id)) note(`It answers the request ${receivedText(String(message.id))}, which was never sent. Received: ${receivedText(text)}`);
      return [message];
    }
    const method = requests.settle(message.id);
    const { result } = message as { result?: unknown };
    return [method === undefined || result === undefined ? message : ({ ...message, result: wrapBody(method, result) } as JSONRPCMessage)];
  };
  const readLine = (line: Line): readonly JSONRPCMessage[] => {
    if (line.kind === "line") return readText(line.text);
    const answer = oversizedAnswer(line, maxMessageBytes);
    if (answer === undefined) return refuse(line.head, "It is too long", undefined);
    requests.settle(answer.id);
    return [answer];
  };
  return {
    expect: requests.note,
    push: (chunk) => splitter.push(chunk).flatMap(readLine),
    read: readText,
    isPending: requests.isPending,
    forget: (id) => void requests.settle(id),
    garbage: () => ({ ...garbage }),
    malformed: () => ({ ...malformed }),
  };
}

/** Our requests that wait for an answer, by id. The SDK counts its ids up. */
function createRequests() {
  /** With the method of those whose answers are carried past the SDK. */
  const pending = new Map<unknown, string | undefined>();
  let lastId = -1;
  return {
    note: (message: JSONRPCMessage): void => {
      if (!("method" in message)) return;
      const given = (message.params as { requestId?: unknown } | undefined)?.requestId;
      if (message.method === "notifications/cancelled") pending.delete(given);
      if (!("id" in message)) return;
      pending.set(message.id, carriesBody(message.method) ? message.method : undefined);
      if (typeof message.id === "number") lastId = Math.max(lastId, message.id);
    },
    isPending: (id: unknown): boolean => pending.has(id),
    wasSent: (id: unknown): boolean => typeof id === "number" && Number.isInteger(id) && id >= 0 && id <= lastId,
    settle: (id: unknown): string | undefined => {
      const method = pending.get(id);
      pending.delete(id);
      return method;
    },
    /** The request an answer with this id was meant for: `"7"` for 7; where the id says nothing, the only one there is. */
    pendingOf: (id: unknown, orOnly = false): number | undefined => {
      const number = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
      if (typeof number === "number" && pending.has(number)) return number;
      const [only] = pending.size === 1 && orOnly ? pending.keys() : [];
      return typeof only === "number" && !(typeof number === "number" && number >= 0 && number <= lastId) ? only : undefined;
    },
  };
}

type Parsed = { readonly kind: "json"; readonly value: unknown } | { readonly kind: "no_json" };

function parse(text: string): Parsed {
  try {
    return { kind: "json", value: parseLosslessJson(text) };
  } catch {
    return { kind: "no_json" };
  }
}

/** What keeps a value from being a JSON-RPC message; undefined where nothing does. */
function envelopeFault(value: unknown, isPending: (id: unknown) => boolean): string | undefined {
  if (Array.isArray(value)) return "It is a list of messages, which no revision in use has";
  if (!isRecord(value)) return "It is no object";
  if (value["jsonrpc"] !== "2.0") return `It has no "jsonrpc": "2.0"`;
  if ("method" in value) return typeof value["method"] === "string" ? undefined : "Its method is no string";
  const { error, id } = value;
  const idFault = isPending(id) || typeof id === "number" ? undefined : id === undefined || id === null ? "It does not say which request it answers" : "Its id is not the one that was sent";
  if ("result" in value) return isRecord(value["result"]) ? idFault : "Its result is no object";
  if (error === undefined) return "It has neither a result nor an error";
  return isRecord(error) && typeof error["message"] === "string" && typeof error["code"] === "number" ? idFault : "Its error is no object with a code and a message";
}

/** Servers also log JSON on stdout; only what has a part of an answer is one gone wrong. */
function meansToAnswer(value: unknown): boolean {
  return Array.isArray(value) ? value.some(meansToAnswer) : isRecord(value) && !("method" in value) && (hasVersion(value) || "result" in value || "error" in value);
}

function hasVersion(value: unknown): boolean {
  return isRecord(value) && "jsonrpc" in value;
}

/** Also the first of a list. */
function idOf(value: unknown): unknown {
  const found: unknown = Array.isArray(value) ? value.find((item) => isRecord(item) && "id" in item && !("method" in item)) : value;
  return isRecord(found) && !("method" in found) ? found["id"] : undefined;
}

/** In a text that means to be an answer and is cut off or broken. */
function idInText(text: string): unknown {
  if (!/^\s*\{/.test(text) || /"method"\s*:/.test(text) || !/"(?:jsonrpc|result|error)"\s*:/.test(text)) return undefined;
  const digits = /"id"\s*:\s*"?(\d{1,15})/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Turns an answer that was too long to keep into an error for the one request it answers, found by the id at either end. */
function oversizedAnswer(line: Extract<Line, { kind: "oversized" }>, maxBytes: number): { readonly jsonrpc: "2.0"; readonly id: number; readonly error: { readonly code: number; readonly message: string } } | undefined {
  const id = /^\{"jsonrpc":\s?"2\.0",\s?"id":\s?(\d{1,15}),/.exec(line.head)?.[1] ?? /[^\\]"jsonrpc":"2\.0","id":(\d{1,15})\}\s*$/.exec(line.tail)?.[1];
  if (id === undefined) return undefined;
  return { jsonrpc: "2.0", id: Number(id), error: { code: oversizedCode, message: `The answer is ${line.sizeBytes} bytes, more than the ${maxBytes} that are taken` } };
}

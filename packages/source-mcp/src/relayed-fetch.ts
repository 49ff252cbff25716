import type { FetchLike, JSONRPCMessage } from "@modelcontextprotocol/client";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage } from "eventsource-parser";
import type { CarriedBodies } from "./carried-bodies.ts";
import { writeLosslessJson } from "@callgate/contract";
import { lostCode, oversizedCode } from "./message-reader.ts";
import type { MessageReader } from "./message-reader.ts";

export interface RelayOptions {
  readonly fetch: FetchLike;
  readonly reader: MessageReader;
  readonly bodies: CarriedBodies;
  /** Longest answer that is taken. */
  readonly maxMessageBytes: number;
  /** A stream of events that answers no single request has ended: by itself, or with an error. */
  readonly onStreamEnd: (error: unknown) => void;
}

/**
 * A fetch for the SDK's HTTP transports under which every JSON-RPC message goes through our reader: whole numbers keep
 * their digits, one malformed answer fails one call, and a request whose stream ends without its answer fails at once
 * instead of at its deadline. Everything that is no message (sign-in, errors of HTTP) passes as it is.
 */
export function relayedFetch(options: RelayOptions): FetchLike {
  return async (url, init) => {
    const response = await options.fetch(url, init);
    if (!response.ok || response.body === null) return response;
    const asked = requestIdOf(init?.body);
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream") return replaced(response, relayEvents(response.body, asked, options));
    return type === "application/json" && asked !== undefined ? replaced(response, await relayJson(response.body, asked, options)) : response;
  };
}

/** The id of the one request in a body of ours. */
function requestIdOf(body: unknown): number | undefined {
  if (typeof body !== "string" || !body.startsWith("{")) return undefined;
  const message = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  return typeof message.id === "number" && typeof message.method === "string" ? message.id : undefined;
}

function replaced(response: Response, body: string | ReadableStream<Uint8Array>): Response {
  const headers = new Headers(response.headers);
  // They are about the bytes that came.
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

async function relayJson(body: ReadableStream<Uint8Array>, asked: number, { reader, bodies, maxMessageBytes }: RelayOptions): Promise<string> {
  const text = await boundedText(body, maxMessageBytes);
  const read = text === undefined ? [failure(asked, oversizedCode, `The answer is more than the ${maxMessageBytes} bytes that are taken`)] : reader.read(text);
  const answered = read.some((message) => !("method" in message) && message.id === asked);
  const messages = answered ? read : [...read, failure(asked, lostCode, "The server answered the request with something else")];
  if (text === undefined || !answered) reader.forget(asked);
  return writeLosslessJson(messages.map((message) => bodies.put(message)));
}

/** Undefined where it is longer. */
async function boundedText(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function failure(id: number, code: number, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** The same events, their messages read by us. What is no message (`endpoint` of the older transport) stays as it is. */
function relayEvents(body: ReadableStream<Uint8Array>, asked: number | undefined, { reader, bodies, maxMessageBytes, onStreamEnd }: RelayOptions): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let out: string[] = [];
  let isResumable = false;
  let isTooLong = false;
  const relay = ({ event, id, data }: EventSourceMessage): void => {
    if (id !== undefined && id !== "") isResumable = true;
    const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
    const isMessage = (event === undefined || event === "message") && data !== "";
    const texts = isMessage ? reader.read(data).map((message) => writeLosslessJson(bodies.put(message))) : [data];
    // An id without a message still says where to go on.
    for (const text of texts.length === 0 && head !== "" ? [""] : texts) out.push(`${head}${text.split("\n").map((line) => `data: ${line}\n`).join("")}\n`);
  };
  const parser = createParser({
    maxBufferSize: maxMessageBytes,
    onEvent: relay,
    onRetry: (ms) => void out.push(`retry: ${ms}\n\n`),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  /** Fails the request that waits for its answer; one that can be asked for again by its last event is left to the SDK. */
  const end = (error: unknown): void => {
    if (asked === undefined) onStreamEnd(error);
    else if (reader.isPending(asked) && (isTooLong || !isResumable)) {
      reader.forget(asked);
      const why = isTooLong ? `The answer is more than the ${maxMessageBytes} bytes that are taken` : `The connection ended before the answer${error instanceof Error ? ` (${error.message})` : ""}`;
      out.push(`data: ${JSON.stringify(failure(asked, isTooLong ? oversizedCode : lostCode, why))}\n\n`);
    }
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let isDone = false;
      while (out.length === 0 && !isDone) {
        try {
          const { value, done } = await source.read();
          if (value !== undefined) parser.feed(decoder.decode(value, { stream: true }));
          isDone = done || isTooLong;
          if (isDone) end(undefined);
        } catch (error) {
          isDone = true;
          end(error);
          // Nothing of ours is to be said: the SDK is told as it was.
          if (out.length === 0) throw error;
        }
      }
      const text = out.join("");
      out = [];
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (!isDone) return;
      if (isTooLong) await source.cancel().catch(() => undefined);
      controller.close();
    },
    cancel: (reason) => source.cancel(reason),
  });
}

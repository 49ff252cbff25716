import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { bodyKey } from "./result-body.ts";
import { isRecord } from "./is-record.ts";

/**
 * Keeps the bodies of results while the messages that carry them pass through a transport of the SDK as text: what was
 * parsed without loss would lose again there.
 */
export interface CarriedBodies {
  /** The message with a number in place of its body. */
  put(message: JSONRPCMessage): unknown;
  /** The message with its body again. A number that was never given out, such as one that a server made up, is no body. */
  take(message: JSONRPCMessage): JSONRPCMessage;
}

export function createCarriedBodies(): CarriedBodies {
  const bodies = new Map<number, unknown>();
  let last = 0;
  return {
    put(message) {
      const meta = metaOf(message);
      if (meta?.[bodyKey] === undefined) return message;
      last += 1;
      bodies.set(last, meta[bodyKey]);
      return withBody(message, { number: last });
    },
    take(message) {
      const carried = metaOf(message)?.[bodyKey];
      const number = isRecord(carried) ? carried["number"] : undefined;
      if (typeof number !== "number") return message;
      const body = bodies.get(number);
      bodies.delete(number);
      return withBody(message, body) as JSONRPCMessage;
    },
  };
}

function metaOf(message: JSONRPCMessage): Readonly<Record<string, unknown>> | undefined {
  const result: unknown = "result" in message ? message.result : undefined;
  const meta = isRecord(result) ? result["_meta"] : undefined;
  return isRecord(meta) ? meta : undefined;
}

function withBody(message: JSONRPCMessage, body: unknown): unknown {
  return { ...message, result: { ...(message as { result: object }).result, _meta: { [bodyKey]: body } } };
}

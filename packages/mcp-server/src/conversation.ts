import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";

/**
 * What a client may say in `_meta` of a request: the chat of its that the answer goes into. No model can set it. Without it
 * all of a connection is one conversation, and of the newer era, which has none, all that comes with one token.
 */
const conversationKey = "callgate/conversation";

const named = /^[\w.:-]{1,128}$/;

/** The conversation of a request: that of its connection, or the part of it that the client names. Errors: InvalidParams for a name that is none. */
export function conversationOf(connection: string, { mcpReq: { _meta: meta } }: Pick<ServerContext, "mcpReq">): string {
  const name: unknown = meta?.[conversationKey];
  if (name === undefined) return connection;
  if (typeof name !== "string" || !named.test(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `_meta["${conversationKey}"] is 1 to 128 letters, digits and . _ : -`);
  return `${connection}/${name}`;
}

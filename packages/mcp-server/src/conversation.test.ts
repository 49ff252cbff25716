import type { ServerContext } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { conversationOf } from "./conversation.ts";

const context = (meta?: Readonly<Record<string, unknown>>): Pick<ServerContext, "mcpReq"> => ({ mcpReq: { _meta: meta } as unknown as ServerContext["mcpReq"] });

test("a request belongs to its connection, or to the part of it that the client names; never to one of another", () => {
  expect(conversationOf("mcp-client:ann", context())).toBe("mcp-client:ann");
  expect(conversationOf("mcp-client:ann", context({ traceparent: "00-1" }))).toBe("mcp-client:ann");
  const ofAnn = conversationOf("mcp-client:ann", context({ "callgate/conversation": "chat-7" }));
  expect([ofAnn, conversationOf("mcp-client:bob", context({ "callgate/conversation": "chat-7" }))]).toEqual(["mcp-client:ann/chat-7", "mcp-client:bob/chat-7"]);
});

test.each([[""], ["a b"], ["x".repeat(129)], [7], [null], ["../mcp-client:bob"]])("a name that is none is refused, not passed over: %j", (name) => {
  expect(() => conversationOf("mcp-client:ann", context({ "callgate/conversation": name }))).toThrow(/callgate\/conversation/);
});

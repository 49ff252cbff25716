import { testSource } from "@callgate/testkit";
import { openHttpPeer } from "./fixtures/http-peer.ts";
import { openScriptedPeer } from "./fixtures/scripted-peer.ts";

testSource("MCP server over stdio", openScriptedPeer);
testSource("MCP server over Streamable HTTP, with sessions", () => openHttpPeer("streamable"));
testSource("MCP server over Streamable HTTP, revision 2026-07-28", () => openHttpPeer("modern"));
testSource("MCP server over the older HTTP transport", () => openHttpPeer("sse"));

import { testSource } from "@callgate/testkit";
import { openScriptedPeer } from "./fixtures/scripted-peer.ts";

testSource("MCP server over stdio", openScriptedPeer);

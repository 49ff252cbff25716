import type { Principal, Source, SourceNotice, SourceNotices } from "@callgate/contract";
import { defineTool, functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createRealGate } from "./fixtures/real-gate.ts";
import { createMcpServer } from "./mcp-server.ts";

/** A source that says what a test lets it say, and the gate and clients before it. */
async function world(passThrough?: string) {
  const asked: string[] = [];
  const listeners = new Set<(notice: SourceNotice) => void>();
  const notices: SourceNotices = {
    listen: (listener) => { listeners.add(listener); return () => void listeners.delete(listener); },
    subscribe: (uri) => { asked.push(`subscribe ${uri}`); return Promise.resolve(); },
    unsubscribe: (uri) => { asked.push(`unsubscribe ${uri}`); return Promise.resolve(); },
    setLogLevel: (level) => { asked.push(level); return Promise.resolve(); },
  };
  const none = () => Promise.resolve([]);
  const source: Source = Object.assign(functionSource({ namespace: "notes", tools: [defineTool({ name: "look", description: "Looks", input: { type: "object" }, effect: "read", handler: () => null })] }), {
    passThrough: { listResources: () => Promise.resolve([{ uri: "mem://a", name: "a" }]), listResourceTemplates: none, readResource: none, listPrompts: none, getPrompt: none, notices },
  });
  const gate = await createRealGate([source]);
  const server = createMcpServer({ gate, version: "1", ...(passThrough === undefined ? {} : { passThrough }) });
  const bob: Principal = { ...gate.principal, user: "bob" };
  const { url, token } = await server.serveHttp({ clients: [{ tokenSha256: createHash("sha256").update("token-of-bob-0123456").digest("hex"), principal: bob }] });
  const clients: Client[] = [];
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    await gate.close();
  });
  const connect = async (bearer = token) => {
    const client = new Client({ name: "Desk", version: "1" });
    const told: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void told.push(params));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${bearer}` } } }));
    clients.push(client);
    // Its stream for what the server says by itself is opened beside this request.
    await client.listTools();
    return { client, told };
  };
  const say = (notice: SourceNotice): void => listeners.forEach((listener) => listener(notice));
  return { asked, say, connect };
}

const log = (level: "info" | "error"): SourceNotice => ({ kind: "log", level, logger: "disk", data: `${level} said` });
const updated: SourceNotice = { kind: "resource-updated", uri: "mem://a" };

test("log messages reach who asked for their level, changes of a resource who subscribed to it, and the source is asked for what somebody wants", async () => {
  const { asked, say, connect } = await world();
  const [one, other] = [await connect(), await connect()];
  await one.client.setLoggingLevel("warning");
  await one.client.subscribeResource({ uri: "mem://a" });
  await other.client.subscribeResource({ uri: "mem://a" });
  await expect(other.client.subscribeResource({ uri: "mem://none" })).rejects.toThrow();
  await expect.poll(() => { say(updated); return [one.told.includes("mem://a"), other.told.includes("mem://a")]; }).toEqual([true, true]);
  for (const level of ["info", "error"] as const) say(log(level));
  await expect.poll(() => one.told.filter((what) => what !== "mem://a")).toEqual([{ level: "error", logger: "notes/disk", data: "error said" }]);
  expect(other.told.filter((what) => what !== "mem://a")).toEqual([]);
  await other.client.setLoggingLevel("debug");
  await one.client.unsubscribeResource({ uri: "mem://a" });
  await other.client.unsubscribeResource({ uri: "mem://a" });
  expect(asked).toEqual(["warning", "subscribe mem://a", "subscribe mem://a", "debug", "unsubscribe mem://a"]);
});

test("a server that is handed on unchanged logs under its own names, before anybody asked for a level", async () => {
  const { say, connect } = await world("notes");
  const { told } = await connect();
  await expect.poll(() => { say(log("info")); return told[0]; }).toEqual({ level: "info", logger: "disk", data: "info said" });
});

test("mcp-005: once another user asks, log messages are shown to nobody: whose call they are about is not known", async () => {
  const { say, connect } = await world("notes");
  const [mine, theirs] = [await connect(), await connect("token-of-bob-0123456")];
  await theirs.client.subscribeResource({ uri: "mem://a" });
  say(log("error"));
  await expect.poll(() => { say(updated); return theirs.told.length > 0; }).toBe(true);
  expect([mine.told, new Set(theirs.told)]).toEqual([[], new Set(["mem://a"])]);
});

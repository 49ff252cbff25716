import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SourceReturn } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { createHttpClient } from "@callgate/http-client";
import { afterAll, describe, expect, test } from "vitest";
import type { HttpOperation } from "../http-operation.ts";
import { callOperation } from "./call-operation.ts";

let answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end();
let seen: IncomingMessage["headers"] = {};
const server = createServer((request, response) => {
  seen = request.headers;
  request.resume().on("end", () => answer(request, response));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = createHttpClient({ namedOrigins: [origin], bounds: { firstByteMs: 5_000 } });
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

const context: ToolContext = { signal: new AbortController().signal, principal: { tenant: "t", user: "u" }, runId: "run_1", callId: "call_1", idempotencyKey: "key-1" } as unknown as ToolContext;
const operation: HttpOperation = { method: "GET", path: "/things", servers: [], parameters: [], responses: [], security: [] };

function respond(status: number, body: string | Buffer = "", headers: Readonly<Record<string, string>> = {}): void {
  answer = (_request, response) => response.writeHead(status, headers).end(body);
}

const call = (more: Partial<HttpOperation> = {}): Promise<unknown> => callOperation({ client, server: new URL(origin) }, { operation: { ...operation, ...more }, args: {}, context });
const fault = async (more: Partial<HttpOperation> = {}): Promise<unknown> => await call(more).then((value) => ({ value }), (error: unknown) => error);
const json = { "content-type": "application/json; charset=utf-8" };

describe("answers", () => {
  test.each([
    ["JSON, every digit of it", json, '{"id":9007199254740993}', { id: 9_007_199_254_740_993n }],
    ["JSON of a type of its own", { "content-type": "application/vnd.api+json" }, "[1]", [1]],
    ["JSON without a type", {}, '{"a":1}', { a: 1 }],
    ["text in its charset", { "content-type": "text/plain; charset=iso-8859-1" }, Buffer.from([0xfc]), "ü"],
    ["XML as data", { "content-type": "application/xml" }, '<?xml version="1.0"?><pet id="7"><tag>x</tag><tag>007</tag></pet>', { pet: { "@id": "7", "tag": ["x", "007"] } }],
    ["XML that defines entities stays text", { "content-type": "text/xml" }, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ["JSON that is none is text", json, "oops", "oops"],
    ["nothing is null", json, "", null],
  ])("%s", async (_what, headers, body, expected) => {
    respond(200, body, headers as Record<string, string>);
    expect(await call()).toEqual(expected);
  });

  test("anything else is a file, named by the service, never with a folder", async () => {
    respond(200, Buffer.from([0, 255]), { "content-type": "image/png", "content-disposition": 'attachment; filename="../../etc/pic.png"' });
    const given = await call();
    expect(SourceReturn.is(given) && [given.value, given.artifacts]).toEqual([{ artifact: "pic.png", mediaType: "image/png", sizeBytes: 2 }, [{ name: "pic.png", mimeType: "image/png", bytes: Buffer.from([0, 255]) }]]);
  });

  test("HEAD gives the headers", async () => {
    respond(200, "", { "x-total": "7" });
    expect(await call({ method: "HEAD" })).toMatchObject({ status: 200, headers: { "x-total": "7" } });
  });
});

describe("errors", () => {
  test("have status, code and what the service said", async () => {
    respond(422, '{"error":{"message":"No such colour"},"field":"c"}', json);
    expect(await fault()).toMatchObject({ code: "HTTP_422", notApplied: true, retryable: false, message: expect.stringContaining("answered 422: No such colour"), details: { status: 422, body: { field: "c" } } });
    respond(500, "<html><head><title>Oops</title></head>", { "content-type": "text/html" });
    expect(await fault()).toMatchObject({ code: "HTTP_500", message: expect.stringMatching(/answered 500: Oops$/) });
  });

  test.each([
    [404, "POST", true, false],
    [409, "POST", false, false],
    [429, "POST", true, true],
    [500, "POST", false, false],
    [503, "POST", false, false],
    [503, "GET", false, true],
    [408, "PUT", false, false],
  ])("%i of a %s: not applied %s, can be tried again %s", async (status, method, notApplied, retryable) => {
    respond(status);
    expect(await fault({ method })).toMatchObject({ code: `HTTP_${status}`, notApplied, retryable });
  });

  test("a write whose service tells repetitions by the key can be tried again", async () => {
    respond(503, "", { "retry-after": "2" });
    expect(await fault({ method: "POST", idempotencyHeader: "X-Request-Key" })).toMatchObject({ retryable: true, retryAfterMs: 2_000 });
    expect(seen["x-request-key"]).toBe("key-1");
    await fault({ method: "POST" });
    expect(seen["idempotency-key"]).toBe("key-1");
    await fault();
    expect(seen).not.toHaveProperty("idempotency-key");
  });

  test("a pause is told as seconds or as a date", async () => {
    respond(429, "", { "retry-after": new Date(Date.now() + 60_000).toUTCString() });
    expect(await fault()).toMatchObject({ retryAfterMs: expect.toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000) });
    respond(429, "", { "retry-after": "soon" });
    expect(await fault()).toMatchObject({ retryAfterMs: undefined });
  });

  test("a connection that breaks during a write leaves its effect open; of one that was never made it is known", async () => {
    answer = (request) => request.socket.destroy();
    expect(await fault({ method: "POST" })).toMatchObject({ code: "SOURCE_UNAVAILABLE", notApplied: false, retryable: false });
    expect(await fault()).toMatchObject({ code: "SOURCE_UNAVAILABLE", retryable: true });
    const nowhere = callOperation({ client, server: new URL("http://10.0.0.1/") }, { operation: { ...operation, method: "POST" }, args: {}, context });
    await expect(nowhere).rejects.toMatchObject({ code: "REQUEST_REFUSED", notApplied: true, message: expect.stringContaining("was not sent") });
  });
});

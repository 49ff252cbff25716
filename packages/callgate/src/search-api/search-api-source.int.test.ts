import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { localPrincipal, ToolError } from "@callgate/contract";
import type { Source, ToolContext } from "@callgate/contract";
import { systemClock } from "@callgate/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSearchApiSource } from "./search-api-source.ts";
import type { SearchProvider } from "./search-providers.ts";

interface Asked extends Pick<IncomingMessage, "method" | "url" | "headers"> {
  readonly body: string;
}

let server: Server;
let answer: { status: number; body: unknown; headers?: Record<string, string> };
let asked: Asked[];
let source: Source | undefined;
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    const reply = (body: string): void => {
      asked.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
    };
    text(request).then(reply, () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await source?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const silent = (): void => undefined;
const context = (): ToolContext => ({ signal: new AbortController().signal, principal: localPrincipal, runId: "run_1", callId: "run_1.1", idempotencyKey: "key_1", log: { debug: silent, info: silent, warn: silent, error: silent }, progress: silent, reportCost: silent, attach: () => Promise.reject(new Error("nothing is attached here")) });
const search = (provider: SearchProvider, args: unknown): Promise<unknown> => {
  source = createSearchApiSource({ namespace: "web", provider, key: "env:KEY", readSecret: () => "a-secret-key", endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/search`, clock: systemClock() });
  return source.call("search", args, context());
};
const failure = async (provider: SearchProvider): Promise<ToolError> => {
  const fault = await search(provider, { query: "x" }).then(() => undefined, (error: unknown) => error);
  if (!ToolError.is(fault)) throw new Error(`not a ToolError: ${String(fault)}`);
  return fault;
};

// As the services document them.
const tavily = { query: "call gate", follow_up_questions: null, answer: null, images: [], results: [{ title: "Call gate", url: "https://example.com/a", content: "A mechanism", score: 0.98, raw_content: null, published_date: "2026-01-02" }, { title: "Bad", url: "javascript:alert(1)", content: "x", score: 0.1 }], response_time: 1.1 };
const brave = { type: "search", query: { original: "call gate" }, web: { type: "search", results: [{ title: "Call gate", url: "https://example.com/a", description: "A mechanism", age: "3 days ago", page_age: "2026-01-02T00:00:00", language: "en" }] } };
const serper = { searchParameters: { q: "call gate", type: "search" }, organic: [{ title: "Call gate", link: "https://example.com/a", snippet: "A mechanism", position: 1, date: "2026-01-02" }], credits: 1 };

describe("each service is asked and understood in its own form", () => {
  test("Tavily", async () => {
    answer = { status: 200, body: tavily };
    expect(await search("tavily", { query: "call gate", limit: 3 })).toEqual({ results: [{ title: "Call gate", url: "https://example.com/a", snippet: "A mechanism", published: "2026-01-02" }] });
    expect([asked[0]?.method, asked[0]?.headers.authorization, JSON.parse(asked[0]?.body ?? "")]).toEqual(["POST", "Bearer a-secret-key", { query: "call gate", max_results: 3 }]);
  });

  test("Brave", async () => {
    answer = { status: 200, body: brave };
    expect(await search("brave", { query: "call & gate" })).toEqual({ results: [{ title: "Call gate", url: "https://example.com/a", snippet: "A mechanism", published: "2026-01-02T00:00:00" }] });
    expect([asked[0]?.method, asked[0]?.headers["x-subscription-token"], asked[0]?.url]).toEqual(["GET", "a-secret-key", "/search?q=call+%26+gate&count=10&text_decorations=false"]);
    answer = { status: 200, body: { type: "search", query: {} } };
    expect(await search("brave", { query: "x" })).toEqual({ results: [] });
  });

  test("Serper", async () => {
    answer = { status: 200, body: serper };
    expect(await search("serper", { query: "call gate", limit: 100 })).toEqual({ results: [{ title: "Call gate", url: "https://example.com/a", snippet: "A mechanism", published: "2026-01-02" }] });
    expect([asked[0]?.method, asked[0]?.headers["x-api-key"], JSON.parse(asked[0]?.body ?? "")]).toEqual(["POST", "a-secret-key", { q: "call gate", num: 20 }]);
  });
});

describe("what goes wrong has a code", () => {
  test.each([
    ["tavily", 401, { detail: { error: "Unauthorized: missing or invalid API key. a-secret-key" } }, false],
    ["serper", 403, { message: "Unauthorized.", statusCode: 403 }, false],
    ["brave", 429, { type: "ErrorResponse", error: { code: "RATE_LIMITED", detail: "Request rate limit exceeded", status: 429 } }, true],
    ["tavily", 503, "unavailable", true],
  ] as const)("%s %i", async (provider, status, body, retryable) => {
    answer = { status, body, headers: { "retry-after": "7" } };
    const { code, message, ...fault } = await failure(provider);
    expect([code, fault.retryable, fault.retryAfterMs]).toEqual([`HTTP_${status}`, retryable, 7_000]);
    expect(message).not.toContain("a-secret-key");
  });

  test.each(["<html>", "[]", "{}", '{"results":7}'])("an answer that is none: %s", async (body) => {
    for (const provider of ["tavily", "brave", "serper"] as const) {
      answer = { status: 200, body };
      expect((await failure(provider)).code).toBe("MALFORMED_ANSWER");
      await source?.close();
    }
  });

  test("a service that is not there, and a source that is closed", async () => {
    answer = { status: 200, body: tavily };
    await search("tavily", { query: "x" });
    await source?.close();
    await expect(source?.call("search", { query: "x" }, context())).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
  });
});

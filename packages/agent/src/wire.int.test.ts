import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { serveProvider, streamOf } from "./fixtures/provider-server.ts";
import type { ServedTurn, WireFormat } from "./fixtures/provider-server.ts";
import { assertAnswered } from "./fixtures/told.ts";

type Fetch = typeof globalThis.fetch;
const formats: readonly WireFormat[] = ["chat", "responses", "messages"];

function modelOf(format: WireFormat, at: { readonly baseURL?: string; readonly fetch?: Fetch }): LanguageModelV4 {
  const options = { apiKey: "test-key", baseURL: "http://127.0.0.1:9/v1", ...at };
  switch (format) {
    case "chat":
      return createOpenAI(options).chat("m");
    case "responses":
      return createOpenAI(options).responses("m");
    case "messages":
      return createAnthropic(options)("m");
  }
}

let world: AgentGate;
const called: unknown[] = [];
beforeAll(async () => {
  world = await agentGate({ shop: [defineTool({ name: "order", description: "Orders.", effect: "write", input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"], additionalProperties: false }, handler: (args) => { called.push(args); return { ordered: args }; } })] });
});
afterAll(async () => {
  await world.gate.close();
});

const turns: readonly ServedTurn[] = [{ text: "Ordering.", calls: [{ id: "call_a", name: "shop__order", args: { id: 41 } }, { id: "call_b", name: "shop__order", args: { id: 42 } }] }, { text: "Ordered both." }];
const agentOn = (model: LanguageModelV4, limits: object = {}) => createAgent({ name: "a", model, gate: world.gate, mode: "tools", limits: { retryMs: 1, ...limits } });

describe.each(formats)("the wire: %s", (format) => {
  test("calls, results and the answer cross a real provider and a server that speaks its format", async () => {
    called.length = 0;
    await using server = await serveProvider(turns);
    const result = await agentOn(modelOf(format, { baseURL: server.url })).run("order two");
    expect(result).toMatchObject({ answer: "Ordered both.", stop: { kind: "answered" }, usage: { turns: 2, toolCalls: 2, inputTokens: 22, outputTokens: 10, isEstimated: false } });
    expect(called).toEqual([{ id: 41 }, { id: 42 }]);
    const second = JSON.stringify(server.requests[1]?.body);
    for (const part of ["call_a", "call_b", "ordered", "41", "42"]) expect(second).toContain(part);
    expect(server.requests.length).toBe(2);
    assertAnswered(result.state.messages);
  });

  test("whole answers of a provider say the same as its streams", async () => {
    await using server = await serveProvider([turns[0] ?? {}]);
    const model = modelOf(format, { baseURL: server.url });
    const { content, finishReason } = await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "x" }] }] });
    expect(content.filter(({ type }) => type === "tool-call").map((part) => (part.type === "tool-call" ? [part.toolCallId, part.toolName] : []))).toEqual([["call_a", "shop__order"], ["call_b", "shop__order"]]);
    expect(finishReason.unified).toBe("tool-calls");
  });
});

/** Ways in which a stream goes wrong at a place. `undefined`: nothing more comes, and it is not closed. */
const mishaps: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>, at: number) => readonly (Uint8Array<ArrayBuffer> | undefined)[]>> = {
  cut: (bytes, at) => [bytes.slice(0, at)],
  stall: (bytes, at) => [bytes.slice(0, at), undefined],
  duplicate: (bytes, at) => [bytes.slice(0, at), bytes.slice(Math.max(0, at - 40), at), bytes.slice(at)],
  reorder: (bytes, at) => [bytes.slice(0, at), bytes.slice(at + 30), bytes.slice(at, at + 30)],
  garble: (bytes, at) => [bytes.slice(0, at), new Uint8Array([0xff, 0x7b, 0x0a]), bytes.slice(at + 3)],
};

/** The first answer goes wrong; every later one is a whole answer in text. */
function brokenFetch(format: WireFormat, chunks: readonly (Uint8Array<ArrayBuffer> | undefined)[]): { readonly fetch: Fetch; readonly sent: () => number } {
  let count = 0;
  return {
    sent: () => count,
    fetch: (_url, init) => {
      count += 1;
      const parts = count === 1 ? chunks : [new TextEncoder().encode(streamOf(format, { text: "Ordered." }))];
      const signal = init?.signal;
      const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(controller) {
          signal?.addEventListener("abort", () => { try { controller.error(signal.reason); } catch { /* It has ended. */ } });
          for (const part of parts) {
            if (part === undefined) return;
            controller.enqueue(part);
          }
          controller.close();
        },
      });
      return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    },
  };
}

describe.each(formats)("a stream that goes wrong: %s", (format) => {
  const bytes = new TextEncoder().encode(streamOf(format, { calls: [{ id: "call_a", name: "shop__order", args: { id: 41 } }] }));

  // Every byte takes minutes: that is checks/full/agent-wire.mjs. Here it is each of so many, from another beginning each time.
  const step = process.env["CALLGATE_EVERY_BYTE"] === undefined ? 29 : 1;
  test.each(Object.keys(mishaps))("%s, byte by byte: the loop never hangs, every call has its result, and none is made that is not told", async (mishap) => {
    const wrong = mishaps[mishap];
    if (wrong === undefined) throw new Error(mishap);
    for (let at = Math.floor(Math.random() * step); at <= bytes.length; at += step) {
      called.length = 0;
      const { fetch } = brokenFetch(format, wrong(bytes, at));
      const result = await agentOn(modelOf(format, { fetch }), { stallMs: 20, turns: 6 }).run("order");
      const place = `${mishap} at byte ${at} of ${bytes.length}`;
      // Whatever came of the broken answer: it ends, what was called was answered, and nothing was called that is not told.
      expect([place, result.stop.kind]).toEqual([place, "answered"]);
      assertAnswered(result.state.messages);
      const told = result.calls.filter(({ effectStatus }) => effectStatus === "done").length;
      expect([place, called.length]).toEqual([place, told]);
      expect([place, called.length <= 1]).toEqual([place, true]);
    }
  }, 600_000);
});

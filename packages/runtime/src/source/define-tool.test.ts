import { localPrincipal } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool, isTool } from "./define-tool.ts";

const context: ToolContext = {
  signal: new AbortController().signal,
  principal: localPrincipal,
  runId: "r",
  callId: "c",
  idempotencyKey: "k",
  log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  progress: () => undefined,
  reportCost: () => undefined, attach: () => Promise.reject(new Error("no blobs here")),
};

describe("defineTool", () => {
  test("takes a zod schema and gives its types to the handler", async () => {
    const tool = defineTool({
      name: "add",
      description: "Adds",
      input: z.object({ a: z.number(), b: z.number().default(2) }),
      output: z.object({ sum: z.number() }),
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<{ a: number; b: number }>();
        return { sum: args.a + args.b };
      },
    });
    expect(tool.input).toEqual({ type: "object", properties: { a: { type: "number" }, b: { type: "number", default: 2 } }, required: ["a"] });
    expect(await tool.parseInput?.({ a: 1 })).toEqual({ kind: "ok", value: { a: 1, b: 2 } });
    expect(await tool.handler({ a: 1, b: 2 }, context)).toEqual({ sum: 3 });
  });

  test("takes a valibot schema wrapped for JSON Schema", async () => {
    const tool = defineTool({
      name: "greet",
      description: "Greets",
      input: toStandardJsonSchema(v.object({ name: v.string() })),
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<{ name: string }>();
        return `Hello ${args.name}`;
      },
    });
    expect(tool.input).toMatchObject({ type: "object", properties: { name: { type: "string" } }, required: ["name"] });
    expect(await tool.parseInput?.({ name: 1 })).toMatchObject({ kind: "invalid", issues: [{ path: "/name" }] });
  });

  test("takes an arktype type", async () => {
    const tool = defineTool({
      name: "greet",
      description: "Greets",
      input: type({ name: "string", "tags?": "string[]" }),
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<{ name: string; tags?: string[] }>();
        return args.name;
      },
    });
    expect(tool.input).toMatchObject({ type: "object", required: ["name"] });
    expect(await tool.parseInput?.({ name: "x", tags: ["a", 1] })).toMatchObject({ kind: "invalid", issues: [{ path: "/tags/1" }] });
  });

  test("takes a plain JSON Schema unchanged", () => {
    const input = { type: "object", properties: { id: { type: "string" } }, required: ["id"] } as const;
    const tool = defineTool({ name: "get", description: "Gets", input, effect: "read", handler: (args) => args["id"] });
    expect(tool.input).toBe(input);
    expect(tool.parseInput).toBeUndefined();
  });

  test("counts an undeclared effect as write", () => {
    const tool = defineTool({ name: "x", description: "X", input: {}, handler: () => null });
    expect(tool).toMatchObject({ effect: "write", timeoutMs: 30_000, version: "1", tags: [], errors: [] });
  });

  test("keeps this inside hooks", async () => {
    const tool = defineTool({
      name: "x",
      description: "X",
      input: {},
      handler() {
        return this.name;
      },
    });
    expect(await tool.handler({}, context)).toBe("x");
  });

  test("says how to wrap a valibot schema that cannot say its JSON Schema", () => {
    expect(() => defineTool({ name: "x", description: "X", input: v.object({}), handler: () => null })).toThrow(
      'tool "x": input: this valibot schema cannot say its JSON Schema; wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema',
    );
  });

  test.each([[null], ["string"], [[]], [3]])("refuses %j as a schema", (input) => {
    const untyped: unknown = { name: "x", description: "X", input, handler: () => null };
    expect(() => defineTool(untyped as Parameters<typeof defineTool>[0])).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }) as Error);
  });

  test("refuses a definition without a handler", () => {
    const untyped: unknown = { name: "x", description: "X", input: {} };
    expect(() => defineTool(untyped as Parameters<typeof defineTool>[0])).toThrow('tool "x" has no handler');
  });

  test("names a schema that has no JSON Schema form", () => {
    expect(() => defineTool({ name: "x", description: "X", input: z.object({ when: z.date() }), handler: () => null })).toThrow(
      /tool "x": input: the zod schema has no JSON Schema form/,
    );
  });
});

describe("isTool", () => {
  test("knows what defineTool made from what only looks like it", () => {
    const tool = defineTool({ name: "x", description: "X", input: {}, handler: () => null });
    expect(isTool(tool)).toBe(true);
    expect([{ ...tool }, null, "x", undefined].map(isTool)).toEqual([false, false, false, false]);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFrameSplitter, FrameError, maxHeadBytes, writeFrame } from "./frame-splitter.ts";
import { parseGuestFrame } from "./guest-frame.ts";

const bounds = { headBytes: maxHeadBytes, payloadBytes: 1_000_000 };

describe("createFrameSplitter", () => {
  test("gives back every frame, wherever the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.uint8Array({ maxLength: 300 })), { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(([text, payload]) => writeFrame({ text }, payload)));
        const splitter = createFrameSplitter(bounds);
        const got = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = cuts[turn % cuts.length] ?? 1;
          got.push(...splitter.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(got.map(({ head, payload }) => [JSON.parse(head), [...payload]])).toEqual(sent.map(([text, payload]) => [{ text }, [...payload]]));
      }),
    );
  });

  test("br-024: refuses a size before it keeps a byte of it", () => {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32BE(10, 0);
    prefix.writeUInt32BE(1_000_001, 4);
    expect(() => createFrameSplitter(bounds).push(prefix)).toThrow(FrameError);
    prefix.writeUInt32BE(maxHeadBytes + 1, 0);
    expect(() => createFrameSplitter(bounds).push(prefix)).toThrow(/head/);
  });
});

describe("parseGuestFrame", () => {
  const parse = (head: unknown, payload = ""): unknown => parseGuestFrame({ head: typeof head === "string" ? head : JSON.stringify(head), payload: Buffer.from(payload) });

  test("reads what a guest may say", () => {
    expect(parse({ k: "call", seq: 0, name: "a.b", tagged: true }, "{}")).toEqual({ kind: "call", seq: 0, name: "a.b", args: { json: "{}", tagged: true } });
    expect(parse({ k: "threw", error: { name: "E", message: "m", line: 3, column: 0, extra: 1 } })).toEqual({ kind: "threw", error: { name: "E", message: "m", line: 3 } });
    expect(parse({ k: "timer", seq: 1, delayMs: -5 })).toEqual({ kind: "timer", seq: 1, delayMs: 0 });
  });

  test.each([
    ["no JSON", "{"],
    ["a list", "[]"],
    ["deep nesting", "[".repeat(100_000)],
    ["an unknown kind", { k: "exec" }],
    ["an inherited kind", { k: "toString" }],
    ["a broken number", { k: "call", seq: 1.5, name: "a.b" }],
    ["a negative number", { k: "call", seq: -1, name: "a.b" }],
    ["a name that is none", { k: "call", seq: 0, name: { toString: 1 } }],
    ["an unknown builtin", { k: "builtin", seq: 0, name: "approve" }],
    ["an unknown limit", { k: "limit", limit: "constructor" }],
    ["an error without a message", { k: "threw", error: { name: "E" } }],
    ["an endless message", { k: "threw", error: { name: "E", message: "x".repeat(20_000) } }],
  ])("refuses %s", (_what, head) => {
    expect(() => parse(head)).toThrow(FrameError);
  });

  test("br-024: never throws anything but a FrameError", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.record({ k: fc.constantFrom("call", "threw", "progress", "artifact", "limit", "hello"), seq: fc.anything(), error: fc.anything(), name: fc.anything() }).map((head) => JSON.stringify(head) ?? "")), (head) => {
        try {
          parse(head);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });
});

import type { GuestOutput } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutputCapture } from "./output-capture.ts";

function captured(maxBytes: number, write: (capture: ReturnType<typeof createOutputCapture>) => void) {
  const outputs: GuestOutput[] = [];
  const capture = createOutputCapture({ maxBytes, tell: (output) => outputs.push(...output) });
  write(capture);
  capture.end();
  const entries = outputs.flatMap((output) => (output.kind === "console" ? [output.entry] : []));
  const dropped = outputs.find((output) => output.kind === "console-dropped")?.droppedBytes ?? 0;
  return { entries, dropped, kept: entries.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) };
}

function textOf(entries: ReturnType<typeof captured>["entries"]): string {
  return entries.map(({ text, partial }) => (partial === true ? text : `${text}\n`)).join("");
}

describe("createOutputCapture", () => {
  test("case 55: puts a character together that was cut, and replaces what is no UTF-8", () => {
    const emoji = Buffer.from("😀\n");
    const { entries } = captured(1_000, (capture) => {
      for (const byte of emoji) capture.stream(1, Buffer.from([byte]));
      capture.stream(1, Buffer.from([0xff, 0xfe, 10]));
    });
    expect(entries.map(({ text }) => text)).toEqual(["😀", "\ufffd\ufffd"]);
  });

  test("case 56: keeps the streams apart and in the order they came", () => {
    const { entries } = captured(1_000, (capture) => {
      capture.stream(1, Buffer.from("A\n"));
      capture.stream(2, Buffer.from("B\n"));
      capture.stream(1, Buffer.from("C"));
    });
    expect(entries).toEqual([{ level: "log", text: "A" }, { level: "error", text: "B" }, { level: "log", text: "C", partial: true }]);
  });

  test("case 57: keeps head and tail and says to the byte what was left out", () => {
    const { entries, dropped } = captured(1_000, (capture) => {
      for (let line = 0; line < 1_000; line++) capture.stream(1, Buffer.from(`${String(line).padStart(99, " ")}\n`));
    });
    expect(entries[0]?.text.trim()).toBe("0");
    expect(entries.at(-1)?.text.trim()).toBe("999");
    expect(Buffer.byteLength(textOf(entries)) + dropped).toBe(100_000);
    expect(entries.filter(({ droppedBefore }) => droppedBefore !== undefined)).toEqual([expect.objectContaining({ droppedBefore: dropped })]);
  });

  test("what each stream wrote can be put together again, line breaks and their absence included", () => {
    const piece = fc.record({ stream: fc.constantFrom<1 | 2>(1, 2), text: fc.array(fc.constantFrom("a", "\n", "\n\n", "b".repeat(5_000), "é😀"), { maxLength: 6 }).map((parts) => parts.join("")) });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { entries, dropped } = captured(10_000_000, (capture) => {
          for (const { stream, text } of pieces) capture.stream(stream, Buffer.from(text));
        });
        expect(dropped).toBe(0);
        for (const [stream, level] of [[1, "log"], [2, "error"]] as const) expect(textOf(entries.filter((entry) => entry.level === level))).toBe(pieces.filter((one) => one.stream === stream).map(({ text }) => text).join(""));
      }),
    );
  });

  test("out-015: never cuts inside a character, and stays within the bound", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 300 }), fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 30 }), (maxBytes, pieces) => {
        const { entries, kept } = captured(maxBytes, (capture) => {
          for (const piece of pieces) capture.stream(1, Buffer.from(piece.replaceAll("\ufffd", "?")));
        });
        expect(kept).toBeLessThanOrEqual(maxBytes);
        expect(entries.some(({ text }) => text.includes("\ufffd"))).toBe(false);
      }),
    );
  });
});

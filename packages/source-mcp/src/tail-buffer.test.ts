import { describe, expect, test } from "vitest";
import { createTailBuffer } from "./tail-buffer.ts";

describe("createTailBuffer", () => {
  test("keeps the last lines of megabytes in a bounded space", () => {
    const tail = createTailBuffer(4096);
    for (let index = 0; index < 5_000; index++) tail.push(Buffer.from(`line ${index} ${"x".repeat(100)}\n`));
    expect(tail.lines(2).map((line) => line.split(" ")[1])).toEqual(["4998", "4999"]);
    expect(tail.lines(1_000_000).length).toBeLessThan(50);
  });

  test("cuts a long line", () => {
    const tail = createTailBuffer(4096);
    tail.push(Buffer.from("y".repeat(3000)));
    expect(tail.lines(1)).toEqual([`${"y".repeat(300)}…`]);
  });
});

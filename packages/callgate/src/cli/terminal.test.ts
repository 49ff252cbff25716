import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { counted, cut, duration, visible } from "./terminal.ts";

describe("visible", () => {
  test("out-002 a program cannot move the cursor or colour what a person reads", () => {
    expect(visible("\u001b[3A\u001b[2K✔ approved by owner\u009b1m\u202e")).toBe("␛[3A␛[2K✔ approved by owner\\u009b1m\\u202e");
  });

  test("keeps line ends, tabs and every printable character", () => {
    expect(visible("a\n\tb é 名 🙂")).toBe("a\n\tb é 名 🙂");
  });

  test("lets no control character through", () => {
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(visible(text))));
  });
});

describe("cut", () => {
  test("ignores colours when a line fits, and drops them when it does not", () => {
    expect(cut("\u001b[31mred\u001b[39m", 3)).toBe("\u001b[31mred\u001b[39m");
    expect(cut("\u001b[31mred and more\u001b[39m", 5)).toBe("red …");
  });
});

describe("counted", () => {
  test("one is singular, all else plural", () => {
    expect([0, 1, 2].map((count) => counted(count, "call"))).toEqual(["0 calls", "1 call", "2 calls"]);
  });
});

describe("duration", () => {
  test.each([
    [0.2, "<1 ms"],
    [83.4, "83 ms"],
    [4_240, "4.2 s"],
    [185_000, "3 min 5 s"],
  ])("says %d ms as %s", (ms, text) => expect(duration(ms)).toBe(text));
});

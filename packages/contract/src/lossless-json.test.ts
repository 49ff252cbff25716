import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLosslessJson, writeLosslessJson } from "./lossless-json.ts";

describe("parseLosslessJson", () => {
  test("code-mode 13, out-009: keeps whole numbers beyond 2^53 exact, as BigInt", () => {
    expect(parseLosslessJson('{"id":9007199254740993,"n":[-12345678901234567890]}')).toEqual({
      id: 9007199254740993n,
      n: [-12345678901234567890n],
    });
  });

  test("leaves exact numbers, decimals and digits in strings as they are", () => {
    const text = '{"safe":9007199254740991,"small":1,"pi":3.14159265358979323846,"big":1e300,"text":"9007199254740993"}';
    expect(parseLosslessJson(text)).toEqual(JSON.parse(text));
  });

  test("keeps an own property named __proto__ as data", () => {
    const value = parseLosslessJson('{"__proto__":{"x":1},"id":9007199254740993}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["__proto__", "id"]);
  });

  test("round-trips every JSON value and every whole number", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt(), (value, id) => {
        const text = JSON.stringify({ value });
        expect(JSON.parse(writeLosslessJson(parseLosslessJson(text)))).toEqual(JSON.parse(text));
        const [back] = parseLosslessJson(writeLosslessJson([id])) as [unknown];
        expect(BigInt(back as bigint | number)).toBe(id);
      }),
    );
  });
});

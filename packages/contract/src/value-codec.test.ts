import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue } from "./decode-value.ts";
import type { ValueBounds } from "./value-codec.ts";
import { encodeValue, encodeValueOnce, ValueError } from "./value-codec.ts";

/** Defined, not assigned: `__proto__` is a property like any other. */
function withProperties(items: unknown[], properties: Readonly<Record<string, unknown>>): unknown[] {
  for (const [name, item] of Object.entries(properties)) Object.defineProperty(items, name, { value: item, enumerable: true, configurable: true, writable: true });
  return items;
}

const scalar = fc.oneof(
  fc.constantFrom(null, undefined, true, false, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, "", "\ud800", "a\udfffb"),
  fc.string({ unit: "binary" }),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
);
const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "$cg", "v", "toJSON", "constructor", "a/b~c", "then"));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("array"), tie("named"), tie("record"), tie("map"), tie("set")),
  array: fc.array(tie("value"), { maxLength: 6 }),
  named: fc.tuple(fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(fc.constantFrom("index", "input", "01", "-1", "1.5", "__proto__", "$cg"), tie("value"), { maxKeys: 3, noNullPrototype: true })).map(([items, properties]) => withProperties(items, properties)),
  record: fc.dictionary(key, tie("value"), { maxKeys: 6, noNullPrototype: true }),
  map: fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
  set: fc.array(tie("value"), { maxLength: 4 }).map((items) => new Set(items)),
}));
const bounds = (part: Partial<ValueBounds>): ValueBounds => ({ maxDepth: 200, maxNodes: 1_000_000, maxChars: 1_000_000, ...part });
const errorOf = (act: () => unknown): ValueError | undefined => {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof ValueError) return thrown;
    throw thrown;
  }
  return undefined;
};

describe.each([
  ["encodeValue", encodeValue],
  ["encodeValueOnce", encodeValueOnce],
])("%s", (_name, encode) => {
  test("code-mode 13: any value comes back equal", () => {
    fc.assert(
      fc.property(value, (original) => {
        // vitest's own equality trips over a property named "constructor".
        deepStrictEqual(decodeValue(encode(original)), original);
      }),
      { numRuns: 500 },
    );
  });

  test("writes plain JSON data as JSON.stringify does, untagged", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (original) => {
        const normal: unknown = JSON.parse(JSON.stringify(original));
        expect(encode(normal)).toEqual({ json: JSON.stringify(normal), tagged: false });
      }),
    );
  });

  test("keeps holes, bytes of every kind, errors and a Buffer's bytes", () => {
    const holed = Object.assign([1], { 2: 3, length: 4 });
    const decoded = decodeValue(encode(holed)) as unknown[];
    expect([decoded.length, 1 in decoded, 2 in decoded, 3 in decoded]).toEqual([4, false, true, false]);
    for (const view of [new Int8Array([-1]), new Uint16Array([1, 65_535]), new Float32Array([0.5]), new Uint8ClampedArray([255]), new BigUint64Array([2n ** 63n])]) expect(decodeValue(encode(view))).toStrictEqual(view);
    expect(decodeValue(encode(new DataView(new Uint8Array([7, 8, 9]).buffer, 1, 1)))).toEqual(new DataView(new Uint8Array([8]).buffer));
    expect(decodeValue(encode(Buffer.from("hi")))).toStrictEqual(new Uint8Array([104, 105]));
    const error = decodeValue(encode(Object.assign(new RangeError("m"), { code: "C" }))) as RangeError & { code: string };
    expect([error.name, error.message, error.code, error.stack]).toEqual(["RangeError", "m", "C", undefined]);
    const failed = Object.assign(new Error("m"), { code: 7, tool: "t.x", details: { at: new Date(0) } });
    expect({ ...(decodeValue(encode(failed)) as object) }).toEqual({ code: 7, tool: "t.x", details: { at: new Date(0) } });
  });

  test("code-mode 13: keeps what an array has beside its items, as the match of a RegExp does", () => {
    const match = decodeValue(encode(/b(c)?/.exec("abd"))) as RegExpExecArray;
    expect([[...match], match.index, match.input, Object.hasOwn(match, "groups")]).toEqual([["b", undefined], 1, "abd", true]);
    expect(encode(["plain"])).toEqual({ json: '["plain"]', tagged: false });
  });

  test("never sets a prototype: __proto__ stays a property", () => {
    for (const text of ['{"__proto__": {"admin": true}}', '{"__proto__": {"admin": true}, "big": 1}']) {
      const original = JSON.parse(text) as Record<string, unknown>;
      if ("big" in original) original["big"] = 1n;
      const decoded = decodeValue(encode(original)) as Record<string, unknown>;
      expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
      expect(Object.hasOwn(decoded, "__proto__")).toBe(true);
      expect(decoded["admin"]).toBeUndefined();
    }
  });

  test("refuses what cannot cross, and names the place", () => {
    const cycle: { inner: { again?: unknown } } = { inner: {} };
    cycle.inner.again = cycle;
    const cases: readonly (readonly [unknown, string, string])[] = [
      [{ a: [() => 1] }, "/a/0", "function"],
      [{ "x/y~z": Symbol("s") }, "/x~1y~0z", "symbol"],
      [cycle, "/inner/again", "cycle"],
      [[Promise.resolve()], "/0", "await"],
      [{ a: new URL("http://a") }, "/a", "URL"],
      [{ a: new (class Money {})() }, "/a", "Money"],
      [new (class Special extends Map {})(), "", "Special"],
      [new Map([[1, () => 1]]), "/0", "function"],
      [{ [Symbol("s")]: 1 }, "", "symbol"],
      [Object.assign([1], { [Symbol("s")]: 1 }), "", "symbol"],
      [{ a: Object.assign([1], { f: () => 1 }) }, "/a/f", "function"],
      [{ a: Object.assign(new Date(0), { zone: "UTC" }) }, "/a", "Date with properties"],
      [{ a: Object.assign(new Map(), { size2: 1 }) }, "/a", "Map with properties"],
      [{ a: Object.assign(new Set(), { note: 1 }) }, "/a", "Set with properties"],
    ];
    for (const [original, path, word] of cases) {
      const error = errorOf(() => encode(original));
      expect([error?.code, error?.path]).toEqual(["VALUE_UNSUPPORTED", path]);
      expect(error?.message).toContain(word);
    }
  });

  test("keeps its bounds", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 201; level++) deep = { deep };
    expect(errorOf(() => encode(deep, bounds({})))).toMatchObject({ code: "VALUE_TOO_LARGE", bound: "maxDepth" });
    expect(errorOf(() => encode([1, 2, 3], bounds({ maxNodes: 2 })))).toMatchObject({ code: "VALUE_TOO_LARGE", bound: "maxNodes" });
    expect(errorOf(() => encode(["x".repeat(50)], bounds({ maxChars: 50 })))).toMatchObject({ code: "VALUE_TOO_LARGE", bound: "maxChars" });
    expect(errorOf(() => encode(new Map(Array.from({ length: 3 }, (_, index) => [index, 1])), bounds({ maxNodes: 5 })))).toMatchObject({ bound: "maxNodes" });
    expect(errorOf(() => encode(10n ** 100_001n))?.code).toBe("VALUE_TOO_LARGE");
  });
});

describe("encodeValueOnce", () => {
  test("js-011, js-012 reads every property once", () => {
    let reads = 0;
    const once = { get amount() { reads += 1; return reads; } };
    expect(encodeValueOnce([once]).json).toBe('[{"amount":1}]');
    const trapped: PropertyKey[] = [];
    const proxy = new Proxy({ a: 1 }, { get: (target, name, self) => { trapped.push(name); return Reflect.get(target, name, self) as unknown; } });
    expect(encodeValueOnce(proxy).json).toBe('{"a":1}');
    expect(trapped).toEqual(["a"]);
  });

  test("js-013 does not listen to toJSON", () => {
    expect(encodeValueOnce({ a: { toJSON: undefined, b: 1 } }).tagged).toBe(true);
    expect(errorOf(() => encodeValueOnce({ toJSON: () => 1 }))?.code).toBe("VALUE_UNSUPPORTED");
  });
});

describe("decodeValue", () => {
  test("refuses text no encoder writes, and never hangs on it", () => {
    for (const json of ["", "{", '{"$cg":"nope"}', '{"$cg":"date","v":"x"}', '{"$cg":"bigint","v":"1x"}', '{"$cg":"bytes","v":"*"}', '{"$cg":"bytes","v":"a"}', '{"$cg":"map","v":[[1]]}', '{"$cg":"map","v":{}}', '{"$cg":"view","v":["Evil","AAAA"]}', '{"$cg":"view","v":["__proto__","AAAA"]}', '{"$cg":"error","v":[1,2]}', '{"$cg":"error","v":["E","m",1]}', '{"$cg":"error","v":["E","m",null,[["message",1]]]}', '{"$cg":"array","v":[1]}', '{"$cg":"array","v":[[1],[[0,1]]]}', '{"$cg":"array","v":[[1],[["0",1]]]}', '{"$cg":"array","v":[[1],[["length",1]]]}', '{"$cg":"object","v":[[1,2]]}', '{"$cg":{"$cg":"date"}}']) {
      expect(errorOf(() => decodeValue({ json, tagged: true }))?.code, json).toBe("VALUE_UNSUPPORTED");
    }
    fc.assert(
      fc.property(fc.json(), (json) => {
        errorOf(() => decodeValue({ json, tagged: true }));
      }),
    );
  });

  test("js-052 counts nesting and items before it parses", () => {
    const nested = { json: "[".repeat(5_000) + "]".repeat(5_000), tagged: false };
    expect(errorOf(() => decodeValue(nested, bounds({})))).toMatchObject({ code: "VALUE_TOO_LARGE", bound: "maxDepth" });
    const wide = { json: `[${"0,".repeat(50_000)}0]`, tagged: false };
    expect(errorOf(() => decodeValue(wide, bounds({ maxNodes: 1_000 })))).toMatchObject({ code: "VALUE_TOO_LARGE", bound: "maxNodes" });
    expect(decodeValue({ json: JSON.stringify("[[[[,,,,".repeat(500)), tagged: false }, bounds({ maxDepth: 3, maxNodes: 3 }))).toContain("[[[[");
  });
});

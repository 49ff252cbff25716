import { defaultLimits, encodeValue } from "@callgate/contract";
import { programText } from "@callgate/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadEngine } from "../host/engine-file.ts";
import { createEngines } from "./engine.ts";
import { createGuest } from "./guest.ts";
import { jsonToBinary } from "./json-to-binary.ts";

const limits = { ...defaultLimits, memoryMiB: 64, cpuMs: 60_000, stackKiB: 256 };
const engines = createEngines(loadEngine());
engines.defineModules("m", '[{"namespace":"demo","tools":["give"]}]');

/** Runs a program whose one call is answered with a JSON text; the value it returns. */
function answered(json: string, body: string): unknown {
  const engine = engines.prepare("m", limits.memoryMiB);
  const guest = createGuest(engine, { code: programText(body), seed: "0".repeat(32), startMs: 0, limits, cancelled: () => false, part: () => undefined });
  guest.start();
  const { end } = guest.deliver([{ seq: 0, atMs: 0, result: { kind: "value", value: { json, tagged: false } } }]);
  engines.release(engine, guest.isHealthy);
  return end?.kind === "returned" ? JSON.parse(end.value.json) : end;
}

/** Looks at everything a program could: which keys in which order, what they say of themselves, prototypes, units of texts. */
const compare = `
const isSame = (a, b) => {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return Object.is(a, b);
  const [keys, others] = [Reflect.ownKeys(a), Reflect.ownKeys(b)];
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b) || Array.isArray(a) !== Array.isArray(b) || keys.length !== others.length) return false;
  return keys.every((key, index) => {
    const [one, other] = [Object.getOwnPropertyDescriptor(a, key), Object.getOwnPropertyDescriptor(b, key)];
    return key === others[index] && one.writable === other.writable && one.enumerable === other.enumerable && one.configurable === other.configurable && isSame(one.value, other.value);
  });
};`;
const pad = "x".repeat(20_000);

const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "then", "0", "7", "4294967295", "2147483648", "-1", "01", "", "é", "中", "a\"b\\c", "constructor", "$cg"));
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)), fc.constantFrom(0, -1, 999_999_999, 1_000_000_000, -999_999_999, 2_147_483_647, 2_147_483_648, -2_147_483_648, 1e21, 5e-324, 63, 64));
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 60, maxLength: 140 }), fc.constantFrom("", "\ud800", "a\udfff", "ÿ", "Ā", "\u0000", "\u007f", "\u2028", "x".repeat(63), "x".repeat(64), "é".repeat(64)));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, text, number, fc.constantFrom(null, true, false), tie("array"), tie("record"), tie("rows")),
  array: fc.array(tie("value"), { maxLength: 5 }),
  record: fc.dictionary(key, tie("value"), { maxKeys: 6, noNullPrototype: true }),
  rows: fc.tuple(fc.uniqueArray(key, { maxLength: 4 }), fc.array(fc.tuple(number, text), { maxLength: 4 })).map(([keys, rows]) => rows.map((row) => Object.fromEntries(keys.map((name, index) => [name, row[index % 2]])))),
}));

describe("jsonToBinary", () => {
  test("code-mode 13: a value made of it cannot be told from one parsed by the engine", () => {
    fc.assert(
      fc.property(value, (original) => {
        const { json, tagged } = encodeValue([pad, JSON.stringify(original), original]);
        if (tagged || JSON.stringify(original).includes('"$cg"')) return;
        expect(jsonToBinary(json)).toBeDefined();
        expect(answered(json, `${compare} const [, text, value] = await tools.demo.give(); return isSame(value, JSON.parse(text))`)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test("rows of one shape, with strangers among them, and objects of more than 127 properties", () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, index]));
    const rows = Array.from({ length: 3_000 }, (_, id) => (id % 97 === 0 ? { name: `n${id}`, id, more: { id } } : { id, name: `n${id}` }));
    const json = JSON.stringify([pad, JSON.stringify([wide, rows]), [wide, rows]]);
    expect(answered(json, `${compare} const [, text, value] = await tools.demo.give(); value[1].push(1); const parsed = JSON.parse(text); parsed[1].push(1); return isSame(value, parsed)`)).toBe(true);
  });

  test("a prototype somebody spoiled sees nothing of it", () => {
    const body = `let seen = 0; Object.defineProperty(Object.prototype, "id", { set() { seen++ }, configurable: true }); Object.defineProperty(Array.prototype, "0", { set() { seen++ }, configurable: true });
      const value = await tools.demo.give(); return [seen, value[0].id, value.length]`;
    expect(answered(JSON.stringify([{ id: 5 }, pad]), body)).toEqual([0, 5, 2]);
  });

  test("200 levels deep, the most the codec writes", () => {
    const json = `[${JSON.stringify(pad)},${"[".repeat(199)}1${"]".repeat(199)}]`;
    expect(answered(json, "let value = (await tools.demo.give())[1]; let depth = 0; while (Array.isArray(value)) { value = value[0]; depth++ } return [value, depth]")).toEqual([1, 199]);
  });

  test("leaves what JSON.stringify would not write to the engine's own parser", () => {
    for (const json of ["", " 1", "[1 ]", "[1,]", "[1", "01", "-", "-01", "1.", ".5", "+1", "nul", "truth", "NaN", '"\n"', '"abc', '"\\x"', '"\\', '{"a"}', '{"a":1,}', "{a:1}", '{"a":1', "{1:2}", "[1]2", "[".repeat(300) + "]".repeat(300)]) {
      expect(jsonToBinary(json), json).toBeUndefined();
    }
    expect(answered(` [1, ${JSON.stringify(pad)}]`, "return (await tools.demo.give())[0]")).toBe(1);
  });

  test("takes no text that JSON.parse does not take", () => {
    fc.assert(
      fc.property(fc.tuple(value, fc.nat(), fc.string({ maxLength: 3 })), ([original, place, more]) => {
        const json = JSON.stringify(original);
        const at = place % (json.length + 1);
        const spoiled = json.slice(0, at) + more + json.slice(at + 1);
        if (jsonToBinary(spoiled) !== undefined) JSON.parse(spoiled);
      }),
      { numRuns: 2_000 },
    );
  });
});

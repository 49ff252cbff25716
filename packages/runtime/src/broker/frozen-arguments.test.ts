import { encodeValue, decodeValue } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freezeArguments } from "./frozen-arguments.ts";

/** Tries to change everything that can be reached. */
function vandalise(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    vandalise((value as Record<string, unknown>)[key]);
    Reflect.set(value, key, "changed");
    Reflect.deleteProperty(value, key);
  }
  Reflect.set(value, "added", true);
  Reflect.setPrototypeOf(value, { polluted: true });
  if (value instanceof Map) value.clear();
  if (value instanceof Set) value.add("changed");
  if (value instanceof Date) value.setTime(0);
  if (value instanceof Uint8Array) value.fill(255);
}

const rich = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.jsonValue(),
    fc.date({ noInvalidDate: true }),
    fc.bigInt(),
    fc.uint8Array({ maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
    fc.array(fc.tuple(fc.string(), tie("value")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
  ),
})).value;

describe("freezeArguments", () => {
  test("gives every user the same arguments, whatever the one before did to them", () => {
    fc.assert(
      fc.property(rich, (value) => {
        const wire = encodeValue(value);
        const args = freezeArguments(decodeValue(wire));
        vandalise(args.take());
        vandalise(args.take());
        expect(encodeValue(args.take())).toEqual(wire);
        expect(encodeValue(args.value)).toEqual(wire);
      }),
    );
  });

  test("hands plain data out as one frozen object", () => {
    const args = freezeArguments({ a: [{ b: 1 }] });
    expect(args.take()).toBe(args.value);
    expect(Object.isFrozen((args.value as { a: object[] }).a[0])).toBe(true);
  });

  test("does not freeze or keep the object it was given", () => {
    const given = { list: [1] };
    const args = freezeArguments(given);
    given.list.push(2);
    expect(args.value).toEqual({ list: [1] });
  });

  test("reads a getter once", () => {
    let reads = 0;
    const args = freezeArguments({ get amount() { return (reads += 1); } });
    expect([args.value, args.take(), reads]).toEqual([{ amount: 1 }, { amount: 1 }, 1]);
  });

  test("keeps `__proto__` as a property and sets no prototype", () => {
    const { value } = freezeArguments(JSON.parse('{"__proto__":{"admin":true}}'));
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  test("keeps holes and undefined apart", () => {
    const { value } = freezeArguments([, undefined]); // oxlint-disable-line no-sparse-arrays
    expect([Object.hasOwn(value as object, 0), Object.hasOwn(value as object, 1)]).toEqual([false, true]);
  });

  test("refuses what is too deep, before the stack does, and what contains itself", () => {
    expect(() => freezeArguments(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)))).toThrow(expect.objectContaining({ code: "VALUE_TOO_LARGE" }));
    const loop: unknown[] = [];
    loop.push(loop);
    expect(() => freezeArguments(loop)).toThrow(expect.objectContaining({ code: "VALUE_UNSUPPORTED" }));
    const twice = { a: 1 };
    expect(freezeArguments([twice, twice]).value).toEqual([{ a: 1 }, { a: 1 }]);
  });
});

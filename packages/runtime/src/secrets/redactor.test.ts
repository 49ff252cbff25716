import { Buffer } from "node:buffer";
import { encodeValue } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const key = Buffer.alloc(32, 1);
const secret = "sk-live/4f9+Zq&x=\"7 ü!";

function redactor(secrets: readonly string[] = []) {
  return createRedactor({ secrets, key });
}

/** UTF-8 bytes of JSON. */
function size(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

describe("createRedactor", () => {
  test("out-019: takes a secret out exact, in JSON, URL-encoded, hex and base64, wherever it stands in an encoded stream", () => {
    const made = redactor([secret]);
    const bytes = Buffer.from(secret);
    const forms = [
      secret,
      JSON.stringify({ secret }),
      encodeURIComponent(secret),
      encodeURIComponent(secret).replaceAll(/%../g, (escape) => escape.toLowerCase()),
      new URLSearchParams({ q: secret }).toString(),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      ...["", "a", "ab", "abc"].flatMap((before) => ["", "x", "xy"].flatMap((after) => (["base64", "base64url"] as const).map((form) => Buffer.from(before + secret + after).toString(form)))),
    ];
    for (const form of forms) {
      const redacted = made.text(`before ${form} after`);
      expect(redacted).toContain("[secret]");
      expect(redacted).toMatch(/^before .* after$/);
      for (const part of [secret.slice(0, 12), bytes.toString("hex").slice(8, 24), bytes.toString("base64").slice(4, 16)]) expect(redacted).not.toContain(part);
    }
  });

  test("out-019: what it does not catch, so that nobody relies on it: a secret in two halves, or backwards", () => {
    const made = redactor([secret]);
    const halves = `${secret.slice(0, 9)} ${secret.slice(9)}`;
    expect(made.text(halves)).toBe(halves);
    const backwards = Array.from(secret).reverse().join("");
    expect(made.text(backwards)).toBe(backwards);
  });

  test("takes the longest of several secrets first, and every place", () => {
    expect(redactor(["abcdef", "abcdefghij", ""]).text("abcdefghij abcdef abcdefghij")).toBe("[secret] [secret] [secret]");
  });

  test("leaves texts alone when it knows no secret, and in those that hold none", () => {
    expect(redactor().text("a [secret] (?!) $&")).toBe("a [secret] (?!) $&");
    expect(redactor([secret]).text("sk-live is a prefix")).toBe("sk-live is a prefix");
  });

  test("takes secrets out of summaries, keys included, also where a text is cut", () => {
    for (let before = 300; before < 420; before += 1) {
      const summary = JSON.stringify(redactor(["TOPSECRETTOKEN0001"]).summary({ TOPSECRETTOKEN0001: `${"x".repeat(before)}TOPSECRETTOKEN0001${"y".repeat(500)}` }, []));
      expect(summary).not.toContain("TOPSEC");
    }
  });

  test("puts equal hashes for equal sensitive values, and others for others, whatever the order of keys", () => {
    const made = redactor();
    const read = made.summary({ to: "bob@x.example", cc: ["eve@x.example", "bob@x.example"], card: { no: 1, cvc: 2 }, alt: { cvc: 2, no: 1 }, keep: "me" }, ["/to", "/cc/*", "/card", "/alt"]) as Record<string, unknown>;
    expect(read["to"]).toMatch(/^hash:[0-9a-f]{16}$/);
    expect(read["cc"]).toEqual([expect.stringMatching(/^hash:/), read["to"]]);
    expect((read["cc"] as string[])[0]).not.toBe(read["to"]);
    expect(read["card"]).toBe(read["alt"]);
    expect(read["keep"]).toBe("me");
  });

  test("gives other hashes under another key", () => {
    const other = createRedactor({ secrets: [], key: Buffer.alloc(32, 2) });
    expect(other.summary("x", [""])).not.toBe(redactor().summary("x", [""]));
  });

  test("reads pointers with ~0, ~1, numbers and * at any depth, and hides everything for one it cannot read", () => {
    const made = redactor();
    const hashed = expect.stringMatching(/^hash:/);
    expect(made.summary({ "a/b": 1, "c~d": 2, list: [{ mail: "m", id: 1 }, { mail: "n", id: 2 }] }, ["/a~1b", "/c~0d", "/list/*/mail"])).toEqual({
      "a/b": hashed,
      "c~d": hashed,
      list: [
        { mail: hashed, id: 1 },
        { mail: hashed, id: 2 },
      ],
    });
    expect(made.summary([1, 2, 3], ["/1"])).toEqual([1, hashed, 3]);
    expect(made.summary({ a: 1 }, ["no pointer"])).toEqual(hashed);
  });

  test("shows small values whole and says what it left out of large ones", () => {
    const made = redactor();
    expect(made.summary({ id: 7, tags: ["a", "b"], open: true, none: null }, [])).toEqual({ id: 7, tags: ["a", "b"], open: true, none: null });
    expect(made.summary(Array.from({ length: 1000 }, (_, id) => id), [])).toEqual([...Array.from({ length: 20 }, (_, id) => id), "… 980 more of 1000 items"]);
    expect(made.summary("x".repeat(5000), [])).toBe(`${"x".repeat(400)}… (5000 characters)`);
  });

  test("names what JSON has no word for", () => {
    const value = [undefined, Number.NaN, -Infinity, 10n, new Date(0), new Map([[1, 2]]), new Set([1]), new Uint8Array(3), new Error("text"), new Date(Number.NaN)];
    expect(redactor().summary(value, [])).toEqual(["[undefined]", "[NaN]", "[-Infinity]", "10n", "1970-01-01T00:00:00.000Z", "[map of 1]", "[set of 1]", "[3 bytes]", "[error]", "[invalid date]"]);
  });

  test("out-015: never cuts a character in two", () => {
    const made = redactor();
    for (let shift = 0; shift < 4; shift += 1) {
      const text = made.summary("x".repeat(shift) + "😀€".repeat(3000), []) as string;
      expect(text.isWellFormed()).toBe(true);
      expect(text).toMatch(/ \(\d+ characters\)$/);
    }
  });

  test("is at most 4 KiB of JSON and never fails, whatever the value and the pointers", () => {
    const made = redactor([secret]);
    fc.assert(
      fc.property(fc.anything({ maxDepth: 6, withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true, withNullPrototype: true }), fc.array(fc.string()), (value, pointers) => {
        expect(size(made.summary(value, pointers))).toBeLessThanOrEqual(4096);
      }),
      { numRuns: 200 },
    );
    const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${"€".repeat(90)}${index}`, "€".repeat(900)]));
    expect(size(made.summary({ a: wide, b: [wide, wide, [wide]] }, []))).toBeLessThanOrEqual(4096);
  });

  test("shows no sensitive value, wherever it stands in whatever value", () => {
    const made = redactor();
    const json = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, (beside, inside) => {
        const value = { beside, mail: "SENSITIVE-4711", deep: [{ inside: ["SENSITIVE-4711", inside] }] };
        expect(JSON.stringify(made.summary(value, ["/mail", "/deep/*/inside"]))).not.toContain("SENSITIVE");
      }),
    );
  });

  test("does not walk what it does not show: a value of 200,000 rows costs about as much as one of 200", () => {
    const made = redactor([secret]);
    const rows = (count: number): unknown => Array.from({ length: count }, (_, id) => ({ id, get name(): string { touched += 1; return "n"; } }));
    let touched = 0;
    made.summary({ rows: rows(200_000), text: "y".repeat(20_000_000) }, ["/rows/*/id"]);
    expect(touched).toBeLessThan(200);
    touched = 0;
    made.summary(rows(200_000), [""]);
    expect(touched).toBeLessThan(3_000);
  });

  test("records digest, summary and clear value; equal arguments have equal digests whatever the order of their keys", () => {
    const made = redactor();
    const one = made.record({ a: 1, b: "x" }, encodeValue({ a: 1, b: "x" }), ["/b"]);
    const two = made.record({ b: "x", a: 1 }, encodeValue({ b: "x", a: 1 }), ["/b"]);
    expect(one).toEqual({ digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), summary: { a: 1, b: expect.stringMatching(/^hash:/) }, clear: encodeValue({ a: 1, b: "x" }) });
    expect(two.digest).toBe(one.digest);
  });

  test("gives large values the digest of their text: equal for equal texts, other for others", () => {
    const made = redactor();
    const rows = Array.from({ length: 50_000 }, (_, id) => ({ id }));
    const digest = (value: unknown): string => made.record(value, encodeValue(value), []).digest;
    expect(digest(rows)).toBe(digest(structuredClone(rows)));
    expect(digest(rows)).not.toBe(digest([...rows, { id: -1 }]));
  });

  test("out-006, out-007: half surrogate pairs and NULs have digests and summaries, each its own", () => {
    const made = redactor();
    const values = ["\ud800abc", "\ud801abc", "\ufffdabc", "\\ud800abc", "\\\\ud800abc", "a\u0000b", "ab", { "\udfff": 1 }, { "\\udfff": 1 }];
    const digests = values.map((value) => made.record(value, encodeValue(value), []).digest);
    expect(new Set(digests).size).toBe(values.length);
  });
});

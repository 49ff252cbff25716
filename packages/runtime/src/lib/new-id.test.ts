import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newId, newRunId, pooledRandom } from "./new-id.ts";

describe("newId", () => {
  test("is a prefix and 26 characters, never the same", () => {
    const ids = Array.from({ length: 2_000 }, () => newId("apr", pooledRandom(randomBytes)));
    expect(new Set(ids).size).toBe(2_000);
    expect(ids[0]).toMatch(/^apr_[0-9a-hjkmnp-tv-z]{26}$/);
  });
});

describe("newRunId", () => {
  test("sorts by time", () => {
    const times = [0, 1, 31, 32, 1_000_000, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1, Date.UTC(2500, 0, 1)];
    const ids = times.map((atMs) => newRunId(atMs, randomBytes));
    expect([...ids].sort()).toEqual(ids);
  });
});

describe("pooledRandom", () => {
  test("gives every byte of its source once, in order, and large requests their own", () => {
    let next = 0;
    const random = pooledRandom((length) => Uint8Array.from({ length }, () => next++ % 251));
    const given = Array.from({ length: 500 }, () => [...random(16)]).flat();
    expect(given.slice(0, 4_096)).toEqual(Array.from({ length: 4_096 }, (_, index) => index % 251));
    expect(random(10_000).length).toBe(10_000);
  });
});

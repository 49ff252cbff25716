import { describe, expect, test } from "vitest";
import { createBackoff } from "./backoff.ts";

describe("createBackoff", () => {
  test("doubles the wait with each failed start, up to 30 s", () => {
    let nowMs = 0;
    const backoff = createBackoff(() => nowMs);
    const waits = Array.from({ length: 9 }, () => {
      backoff.failed();
      const waitMs = backoff.waitMs();
      nowMs += waitMs;
      return waitMs;
    });
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(backoff.waitMs()).toBe(0);
  });

  test("lets the first death of a sound server pass, and slows one that dies soon after each start", () => {
    let nowMs = 0;
    const backoff = createBackoff(() => nowMs);
    backoff.started();
    nowMs += 60_000;
    backoff.died();
    expect(backoff.waitMs()).toBe(0);
    backoff.started();
    nowMs += 10;
    backoff.died();
    expect(backoff.waitMs()).toBe(1000);
    nowMs += 1000;
    backoff.started();
    nowMs += 60_000;
    backoff.died();
    expect(backoff.waitMs()).toBe(0);
  });
});

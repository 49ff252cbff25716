import { encodeValue } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOfWire } from "../lib/digest.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import type { IdempotencyParts } from "./idempotency-key.ts";

const parts: fc.Arbitrary<IdempotencyParts> = fc.record({
  tenant: fc.string(),
  taskId: fc.option(fc.string(), { nil: undefined }),
  runId: fc.string(),
  tool: fc.string(),
  businessKey: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  argsDigest: fc.jsonValue().map((value) => digestOfWire(encodeValue(value))),
  occurrence: fc.nat(5),
});

/** What makes a call the same call, spelt out independently of the code under test. */
function identity({ tenant, taskId, runId, tool, businessKey, argsDigest, occurrence }: IdempotencyParts): string {
  return JSON.stringify([tenant, taskId === undefined ? { runId } : { taskId }, tool, businessKey === undefined ? { argsDigest, occurrence } : { businessKey }]);
}

describe("idempotencyKey", () => {
  test("is equal exactly for the same call of the same work", () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(idempotencyKey(one)).toBe(idempotencyKey({ ...one }));
        expect(idempotencyKey(one) === idempotencyKey(other)).toBe(identity(one) === identity(other));
      }),
      { numRuns: 300 },
    );
  });

  const base: IdempotencyParts = { tenant: "t", taskId: undefined, runId: "r", tool: "a.b", businessKey: undefined, argsDigest: "sha256:1", occurrence: 0 };

  test.each<[string, Partial<IdempotencyParts>]>([
    ["tenant", { tenant: "u" }],
    ["run", { runId: "s" }],
    ["task", { taskId: "r" }],
    ["tool", { tool: "a.c" }],
    ["business key", { businessKey: "sha256:1" }],
    ["arguments", { argsDigest: "sha256:2" }],
    ["occurrence", { occurrence: 1 }],
  ])("differs with the %s", (_name, change) => {
    expect(idempotencyKey({ ...base, ...change })).not.toBe(idempotencyKey(base));
  });

  test("is the same for a task that is submitted again as another run", () => {
    expect(idempotencyKey({ ...base, taskId: "k", runId: "1" })).toBe(idempotencyKey({ ...base, taskId: "k", runId: "2" }));
  });

  test("counts neither arguments nor occurrence where the tool names its record", () => {
    const keyed = { ...base, businessKey: "inv-1" };
    expect(idempotencyKey({ ...keyed, argsDigest: "sha256:2", occurrence: 3 })).toBe(idempotencyKey(keyed));
  });

  test("fits a header and keeps its value: services behind tools have stored it", () => {
    expect(idempotencyKey(base)).toMatch(/^[\w-]{43}$/);
    expect(idempotencyKey(base)).toBe("BhowI1jQwrWFR9Hof0GW9pFLodnO-kTdbQN3niafCBk");
  });
});

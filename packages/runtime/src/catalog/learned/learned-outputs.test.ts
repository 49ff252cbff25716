import type { JsonValue, LearnedOutputStore, Tool } from "@callgate/contract";
import { expect, test } from "vitest";
import { systemClock } from "../../lib/system-clock.ts";
import { defineTool } from "../../source/define-tool.ts";
import { createLearnedOutputs } from "./learned-outputs.ts";
import type { AnsweringTool } from "./learned-outputs.ts";

const toolOf = (version: number, more: Partial<Tool> = {}): AnsweringTool => ({ name: "crm.find", definitionDigest: `sha256:${version}`, tool: { ...defineTool({ name: "find", description: "", effect: "read", input: { type: "object" }, handler: () => null }), ...more } });
function memoryStore(first?: JsonValue): LearnedOutputStore & { value: JsonValue | undefined } {
  const store = { value: first, read: () => store.value, write: (value: JsonValue) => void (store.value = structuredClone(value)) };
  return store;
}
const open = (store?: LearnedOutputStore) => createLearnedOutputs({ store, clock: systemClock() });

test("learns by definition and tenant, counts in steps, and begins anew when the definition changes", () => {
  const learned = open();
  expect(learned.of("a", "sha256:1")).toBeUndefined();
  const calls = Array.from({ length: 27 }, (_, index) => {
    learned.observe(toolOf(1), "a", { id: index });
    return learned.of("a", "sha256:1")?.calls;
  });
  expect([...new Set(calls)]).toEqual([1, 2, 5, 10, 20]);
  expect(learned.of("b", "sha256:1")).toBeUndefined();
  const before = learned.revision("a");
  learned.observe(toolOf(1), "a", { id: 28 });
  expect(learned.revision("a")).toBe(before);
  learned.observe(toolOf(2), "a", { key: "x" });
  expect(learned.revision("a")).toBeGreaterThan(before);
  expect([learned.of("a", "sha256:1"), learned.of("a", "sha256:2")]).toEqual([undefined, expect.objectContaining({ calls: 1, schema: { type: "object", properties: { key: { type: "string" } } } })]);
});

test("what declares an output, or a shape by code, is not learned; what is sensitive neither", () => {
  const learned = open();
  learned.observe(toolOf(1, { output: { type: "object" } }), "a", { id: 1 });
  learned.observe(toolOf(2, { parseOutput: (value) => ({ kind: "ok", value }) }), "a", { id: 1 });
  expect([learned.of("a", "sha256:1"), learned.of("a", "sha256:2")]).toEqual([undefined, undefined]);
  learned.observe(toolOf(3, { sensitive: ["/input/id", "/output/rows/*/iban"] }), "a", { rows: [{ iban: { bank: "x" }, id: 1 }] });
  expect(learned.of("a", "sha256:3")?.schema).toEqual({ type: "object", properties: { rows: { type: "array", items: { type: "object", properties: { iban: true, id: { type: "integer" } } } } } });
});

test("processes add up what they saw in one file; one that is damaged, or somebody else's, is left aside", () => {
  const store = memoryStore();
  const [one, other] = [open(store), open(store)];
  for (let call = 0; call < 3; call += 1) one.observe(toolOf(1), "a", { id: 1 });
  for (let call = 0; call < 2; call += 1) other.observe(toolOf(1), "a", { name: "x" });
  one.close();
  other.close();
  other.close();
  expect(JSON.stringify(store.value)).not.toContain('"x"');
  expect(open(store).of("a", "sha256:1")).toMatchObject({ calls: 5, schema: { properties: { id: { type: "integer" }, name: { type: "string" } } } });
  for (const wrong of [null, 5, { version: 2 }, { version: 1, tenants: { a: { "sha256:1": { name: "crm.find", calls: "many", type: {} } } } }]) {
    const again = open(memoryStore(wrong));
    expect(again.of("a", "sha256:1")).toBeUndefined();
    again.observe(toolOf(1), "a", { id: 1 });
    expect(again.of("a", "sha256:1")?.calls).toBe(1);
  }
});

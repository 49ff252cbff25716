import { DatabaseSync } from "node:sqlite";
import { virtualClock } from "@callgate/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMasterKey } from "../secrets/master-key.ts";
import { createOwners } from "./owners.ts";
import { createRunReader } from "./read-runs.ts";
import { createRunKeys } from "./run-keys.ts";
import { migrations } from "./schema.ts";

test("whether an agent has completed a program is looked up in an index, however many calls it made", () => {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  for (const migration of migrations) database.exec(migration);
  const prepared = vi.spyOn(database, "prepare");
  createRunReader(database, { keys: createRunKeys(database, createMasterKey(new Uint8Array(32).fill(7))), owners: createOwners(database, virtualClock()) });
  const texts = prepared.mock.calls.flatMap(([text]) => (text.includes("r.status = 'completed'") ? [text] : []));
  expect(texts).toHaveLength(1);
  const plan = database.prepare(`explain query plan ${texts[0] ?? ""}`).all({ tenant: "acme", beforeMs: 1, activeSinceMs: 0, agent: "bot", kind: "program", limit: 1 }).map(({ detail }) => String(detail));
  expect(plan[0]).toMatch(/^SEARCH r USING INDEX runs_completed_by_agent \(tenant=\? AND agent=\? AND started_at_ms<\?\)/);
  expect(plan.filter((step) => step.includes("SCAN r") || step.includes("ORDER BY"))).toEqual([]);
});

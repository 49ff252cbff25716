import type { JournalEntry } from "@callgate/contract";
import { expect, test } from "vitest";
import { waitedMs } from "./waited-time.ts";

const suspended = (atMs: number): JournalEntry => ({ kind: "suspended", atMs, waits: [] });
const resumed = (atMs: number, reason: "due" | "taken_over" = "due"): JournalEntry => ({ kind: "resumed", atMs, epoch: 2, reason, changes: [] });
const said = (atMs: number): JournalEntry => ({ kind: "text", atMs, text: "" });

test("counts what a run stood still without a process: suspended, or lost; not what came after its end", () => {
  const run = { startedAtMs: 1_000, endedAtMs: 2_000 };
  expect(waitedMs(run, [said(1_100)])).toBe(0);
  expect(waitedMs(run, [suspended(1_100), resumed(1_500), said(1_600)])).toBe(400);
  expect(waitedMs(run, [said(1_200), resumed(1_900, "taken_over")])).toBe(700);
  // A try that did not go on gave it back: it waited all along.
  expect(waitedMs(run, [suspended(1_100), suspended(1_300), resumed(1_500), resumed(9_000, "taken_over")])).toBe(400);
  expect(waitedMs({ ...run, endedAtMs: undefined }, [suspended(1_100)], 5_000)).toBe(3_900);
});

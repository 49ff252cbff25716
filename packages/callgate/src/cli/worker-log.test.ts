import { CallgateError, localPrincipal } from "@callgate/contract";
import type { GateEvent } from "@callgate/contract";
import { expect, test } from "vitest";
import { createWorkerLog } from "./worker-log.ts";

const scope = { atMs: 1, runId: "run_1", principal: localPrincipal };
const events: readonly GateEvent[] = [
  { ...scope, kind: "run-resumed", epoch: 2, reason: "taken_over", changes: [] },
  { ...scope, kind: "run-suspended", waits: [] },
  { ...scope, kind: "run-ended", status: "completed", durationMs: 1 },
];

function logged(json: boolean): { readonly log: ReturnType<typeof createWorkerLog>; readonly at: (ms: number) => void; readonly out: string[]; readonly err: string[] } {
  const [out, err]: [string[], string[]] = [[], []];
  let nowMs = 0;
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  return { log: createWorkerLog({ options: { json }, terminal }, () => nowMs), at: (ms) => { nowMs = ms; }, out, err };
}

test("a worker says which runs it took and how they ended, a line each", () => {
  const { log, err } = logged(false);
  for (const event of events) log.event(event);
  expect(err).toEqual(["run_1 taken over from a lost process", "run_1 suspended", "run_1 completed"].map((words) => `1970-01-01T00:00:00.000Z ${words}\n`));
});

test("with --json each line is an object, on standard output", () => {
  const { log, out, err } = logged(true);
  for (const event of events) log.event(event);
  log.fault(new CallgateError("JOURNAL_UNAVAILABLE", "away"));
  expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ kind: "run-resumed", runId: "run_1" }, { kind: "run-suspended" }, { kind: "run-ended", status: "completed" }, { kind: "fault", code: "JOURNAL_UNAVAILABLE", message: "away" }]);
  expect(err).toEqual([]);
});

test("a fault is told, and told again after a minute, not with every look", () => {
  const { log, at, err } = logged(false);
  for (const ms of [0, 1_000, 59_999, 60_000]) {
    at(ms);
    log.fault(new CallgateError("JOURNAL_UNAVAILABLE", "The journal's PostgreSQL cannot be reached"));
  }
  expect(err).toHaveLength(2);
  expect(err[0]).toContain("fault JOURNAL_UNAVAILABLE: The journal's PostgreSQL cannot be reached");
});

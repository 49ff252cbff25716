import { expect, test } from "vitest";
import type { GateEvent, GateEventKind } from "./gate-event.ts";

type Fields<Kind extends GateEventKind> = keyof Extract<GateEvent, { kind: Kind }>;

const run = ["kind", "atMs", "runId", "principal"] as const;
const call = [...run, "callId", "tool"] as const;
const gate = ["kind", "atMs"] as const;

/**
 * Names and fields that listeners rely on. A field may be added here with its event; none is taken away or renamed. The
 * types hold both sides: a field that is not listed, and one that is listed and not there, does not compile.
 */
const pinned = {
  "run-started": [...run, "runKind", "isVaried", "trace"],
  "run-checked": [...run, "ok", "diagnostics", "durationMs"],
  "run-progressed": [...run, "message", "fraction"],
  "run-printed": [...run, "entries"],
  "run-connected": [...run, "connection"],
  "run-suspended": [...run, "waits"],
  "run-resumed": [...run, "epoch", "reason", "changes", "trace"],
  "run-fenced": [...run, "epoch"],
  "run-ended": [...run, "status", "durationMs"],
  "call-requested": [...call, "effect", "args"],
  "call-decided": [...call, "decision", "ruleId", "unobserved", "next"],
  "grant-used": [...call, "grantId", "by", "use", "maxUses"],
  "call-intercepted": [...call, "by", "how"],
  "approval-asked": [...call, "question"],
  "approval-answered": [...call, "approvalId", "approved", "by"],
  "approval-refused": [...call, "approvalId", "by", "why"],
  "call-started": [...call, "attempt"],
  "call-progressed": [...call, "message", "fraction"],
  "call-waiting": [...call, "waits"],
  "call-ended": [...call, "outcome", "effectStatus", "durationMs", "error", "cached", "cost", "answeredBy", "simulated"],
  "call-resolved": [...call, "effectStatus", "how"],
  "call-late": [...call, "effectStatus"],
  "source-changed": [...gate, "namespace", "state"],
  "circuit-changed": [...gate, "namespace", "state", "retryAfterMs"],
  "catalog-changed": [...gate, "tools", "problems"],
  "journal-degraded": [...gate, "message"],
} as const satisfies { readonly [Kind in GateEventKind]: readonly Fields<Kind>[] };

type Unlisted = { readonly [Kind in GateEventKind]: Exclude<Fields<Kind>, (typeof pinned)[Kind][number]> }[GateEventKind];
/** Names the fields that are not listed, where there are any. */
const isWhole: [Unlisted] extends [never] ? true : Unlisted = true;

test("names and shapes of events are as they were", () => {
  expect(isWhole).toBe(true);
  expect(Object.keys(pinned)).toHaveLength(26);
});

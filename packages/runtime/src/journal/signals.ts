import type { DatabaseSync } from "node:sqlite";
import type { RunSignal, RunWait } from "@callgate/contract";
import { sealedDigestOf, stampText } from "./audit-stamps.ts";
import type { AuditStamps } from "./audit-stamps.ts";
import { jsonColumn, optionalNumber, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { notFoundError, signalLimitError } from "./fence.ts";
import type { Ledger } from "./ledger.ts";
import { sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKeys } from "./run-keys.ts";
import { signalCells } from "./run-stamps.ts";
import { isAnsweredBy, isCounted, isOverLimit, signalName, signalPlace } from "./signal-codec.ts";
import type { SignalName, SplitSignal } from "./signal-codec.ts";
import { waitsShape } from "./stored-shapes.ts";

/** A signal ready to be written: a large value is a blob already. */
export interface PreparedSignal {
  readonly split: SplitSignal;
  readonly payload: Payload | undefined;
  readonly blob?: { readonly digest: string; readonly sizeBytes: number };
}

/** What was said to runs. */
export interface Signals {
  /** In the order in which they were kept. */
  said(runId: string): readonly (SignalName & { readonly position: number })[];
  /** Inside a transaction; makes the run due if it waits for that. Position of the signal that counts. Errors: RUN_NOT_FOUND, SIGNAL_LIMIT. */
  signal(run: { readonly tenant: string; readonly runId: string }, signal: PreparedSignal): { readonly kind: "kept" | "known"; readonly position: number };
}

export interface SignalSeams {
  readonly keys: RunKeys;
  readonly stamps: AuditStamps;
  readonly ledger: Ledger;
  readonly now: () => number;
}

export function createSignals(database: DatabaseSync, { keys, stamps, ledger, now }: SignalSeams): Signals {
  const selectRun = database.prepare("select user_id, status, waits, due_at_ms from runs where tenant = ? and run_id = ?");
  const selectNames = database.prepare("select kind, name, key, position from signals where run_id = ? order by position");
  // A run may be told thousands of things: each is found and placed along an index.
  const selectKnown = database.prepare("select position from signals where run_id = ? and kind = ? and name = ? and key = ?");
  const selectLast = database.prepare("select max(position) as position from signals where run_id = ?");
  const countEvents = database.prepare("select count(*) as events from signals where run_id = ? and kind = 'event' and name = ?");
  const insertSignal = database.prepare("insert into signals (run_id, position, tenant, user_id, kind, name, key, body, texts, sealed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const makeDue = database.prepare("update runs set due_at_ms = min(coalesce(due_at_ms, ?1), ?1) where run_id = ?2");

  function positionOf(runId: string, { kind, name, key }: SignalName): number | undefined {
    const row = key === undefined ? undefined : selectKnown.get(runId, kind, name, key);
    return row === undefined ? undefined : Number(row["position"]);
  }

  function wakes(run: Row, runId: string, name: SignalName): boolean {
    if (run["status"] !== "suspended" || (optionalNumber(run, "due_at_ms") ?? Number.POSITIVE_INFINITY) <= now()) return false;
    const waits = jsonColumn<RunWait[]>({ ...run, run_id: runId }, "waits", waitsShape);
    return isAnsweredBy(waits, name, isCounted(waits, name) ? Number(countEvents.get(runId, name.name)?.["events"]) : 0);
  }

  return {
    said: (runId) => selectNames.all(runId).map((row) => ({ kind: row["kind"] as RunSignal["kind"], name: String(row["name"]), key: row["key"] === null ? undefined : String(row["key"]), position: Number(row["position"]) })),
    signal({ tenant, runId }, { split, payload, blob }) {
      const run = selectRun.get(tenant, runId);
      if (run === undefined) throw notFoundError(runId);
      const name = signalName(split.body);
      const known = positionOf(runId, name);
      if (known !== undefined) return { kind: "known", position: known };
      const position = Number(selectLast.get(runId)?.["position"] ?? -1) + 1;
      if (isOverLimit(name, position)) throw signalLimitError(runId);
      const key = keys.find(runId);
      const sealed = payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, signalPlace(runId, position));
      const [userId, body] = [textColumn(run, "user_id"), JSON.stringify(split.body)];
      insertSignal.run(runId, position, tenant, userId, name.kind, name.name, name.key ?? null, body, payload?.texts === undefined ? 0 : 1, sealed);
      const cells = signalCells({ tenant, user_id: userId, kind: name.kind, name: name.name, key: name.key });
      const stamp = stamps.signal(runId, position, { cells, body, sealedDigest: sealedDigestOf(sealed) });
      ledger.note(tenant, { kind: "run-told", runId, position, what: name.kind, by: split.body.by, stamp: stampText(stamp) });
      if (blob !== undefined) insertBlob.run(runId, blob.digest, tenant, userId, blob.sizeBytes);
      if (wakes(run, runId, name)) makeDue.run(now(), runId);
      return { kind: "kept", position };
    },
  };
}

import type { DatabaseSync } from "node:sqlite";
import type { RunSignal, RunWait } from "@callgate/contract";
import { sealedDigestOf, stampText } from "./audit-stamps.ts";
import type { AuditStamps } from "./audit-stamps.ts";
import { textColumn } from "./columns.ts";
import { notFoundError } from "./fence.ts";
import type { Ledger } from "./ledger.ts";
import { sealPayload } from "./payload.ts";
import type { Payload } from "./payload.ts";
import type { RunKeys } from "./run-keys.ts";
import { signalCells } from "./run-stamps.ts";
import { isAnswered, signalName, signalPlace } from "./signal-codec.ts";
import type { SignalName, SplitSignal } from "./signal-codec.ts";

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
  /** Inside a transaction; makes the run due if it waits for that. Position of the signal that counts. Errors: RUN_NOT_FOUND. */
  signal(run: { readonly tenant: string; readonly runId: string }, signal: PreparedSignal): { readonly kind: "kept" | "known"; readonly position: number };
}

export interface SignalSeams {
  readonly keys: RunKeys;
  readonly stamps: AuditStamps;
  readonly ledger: Ledger;
  readonly now: () => number;
}

export function createSignals(database: DatabaseSync, { keys, stamps, ledger, now }: SignalSeams): Signals {
  const selectRun = database.prepare("select user_id, status, waits from runs where tenant = ? and run_id = ?");
  const selectNames = database.prepare("select kind, name, key, position from signals where run_id = ? order by position");
  const insertSignal = database.prepare("insert into signals (run_id, position, tenant, user_id, kind, name, key, body, texts, sealed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertBlob = database.prepare("insert or ignore into blob_refs (run_id, digest, tenant, user_id, bytes) values (?, ?, ?, ?, ?)");
  const makeDue = database.prepare("update runs set due_at_ms = min(coalesce(due_at_ms, ?1), ?1) where run_id = ?2");

  const saidTo = (runId: string): (SignalName & { readonly position: number })[] =>
    selectNames.all(runId).map((row) => ({ kind: row["kind"] as RunSignal["kind"], name: String(row["name"]), key: row["key"] === null ? undefined : String(row["key"]), position: Number(row["position"]) }));

  return {
    said: saidTo,
    signal({ tenant, runId }, { split, payload, blob }) {
      const run = selectRun.get(tenant, runId);
      if (run === undefined) throw notFoundError(runId);
      const said = saidTo(runId);
      const name = signalName(split.body);
      const known = name.key === undefined ? undefined : said.find((other) => other.kind === name.kind && other.name === name.name && other.key === name.key);
      const position = known?.position ?? (said.at(-1)?.position ?? -1) + 1;
      if (known === undefined) {
        const key = keys.find(runId);
        const sealed = payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, signalPlace(runId, position));
        const [userId, body] = [textColumn(run, "user_id"), JSON.stringify(split.body)];
        insertSignal.run(runId, position, tenant, userId, name.kind, name.name, name.key ?? null, body, payload?.texts === undefined ? 0 : 1, sealed);
        const cells = signalCells({ tenant, user_id: userId, kind: name.kind, name: name.name, key: name.key });
        const stamp = stamps.signal(runId, position, { cells, body, sealedDigest: sealedDigestOf(sealed) });
        ledger.note(tenant, { kind: "run-told", runId, position, what: name.kind, by: split.body.by, stamp: stampText(stamp) });
        if (blob !== undefined) insertBlob.run(runId, blob.digest, tenant, String(run["user_id"]), blob.sizeBytes);
        said.push({ ...name, position });
      }
      if (run["status"] === "suspended" && isAnswered(JSON.parse(textColumn(run, "waits")) as RunWait[], said)) makeDue.run(now(), runId);
      return { kind: known === undefined ? "kept" : "known", position };
    },
  };
}

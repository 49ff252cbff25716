import type { RunSignal, RunWait } from "@callgate/contract";
import { isAnsweredBy, isCounted, isOverLimit, jsonColumn, keyLostError, notFoundError, sealedDigestOf, sealPayload, signalCells, signalLimitError, signalName, signalPlace, splitSignal, stampText, storePayload, textColumn, waitsShape } from "@callgate/runtime/journal-parts";
import type { SignalName, Stamp } from "@callgate/runtime/journal-parts";
import type { Query, SqlRow } from "./database.ts";
import { openRunKey } from "./run-keys.ts";
import type { RunWriteSeams } from "./run-writes.ts";

/** What is said to runs. */
export interface Signals {
  /** Position of the signal that counts. Errors: RUN_NOT_FOUND, SIGNAL_LIMIT. */
  signal(run: RunPlace, signal: RunSignal): Promise<{ readonly kind: "kept" | "known"; readonly position: number }>;
}

interface RunPlace {
  readonly tenant: string;
  readonly runId: string;
}

const selectRun = "select r.user_id, r.status, r.waits, k.master_id, k.wrapped from callgate.runs r left join callgate.run_keys k using (run_id) where r.tenant = $1 and r.run_id = $2";
// A run may be told thousands of things: each is found and placed along an index.
const selectKnown = "select position from callgate.signals where run_id = $1 and kind = $2 and name = $3 and key = $4";
const selectLast = "select max(position) as position from callgate.signals where run_id = $1";
const countEvents = "select count(*) as events from callgate.signals where run_id = $1 and kind = 'event' and name = $2";
const isDue = "select 1 from callgate.runs where run_id = $1 and due_at_ms <= callgate.now_ms($2)";

export function createSignals(seams: RunWriteSeams): Signals {
  const { database, masterKey, time, stamps, lanes } = seams;
  return {
    async signal(place, signal) {
      const { tenant, runId } = place;
      const [found] = await database.read(selectRun, [tenant, runId]);
      if (found === undefined) throw notFoundError(runId);
      const sealedUnder = openRunKey(masterKey, runId, found);
      if (sealedUnder.kind === "lost") throw keyLostError(runId, sealedUnder.masterId);
      const split = splitSignal(signal);
      const stored = await storePayload(seams, { runId, tenant, key: sealedUnder }, split);
      return await lanes.write((pen) => database.transact("full", async (query) => {
        const [run] = await query(`${selectRun} for update of r`, [tenant, runId]);
        if (run === undefined) throw notFoundError(runId);
        const name = signalName(signal);
        const known = await positionOf(query, runId, name);
        if (known !== undefined) return { kind: "known", position: known };
        const position = Number((await query(selectLast, [runId]))[0]?.["position"] ?? -1) + 1;
        if (isOverLimit(name, position)) throw signalLimitError(runId);
        const stamp = await keep(query, { place, run, name, position, body: JSON.stringify(split.body) }, stored);
        await pen.write(query, tenant, [{ kind: "run-told", runId, position, what: name.kind, by: split.body.by, stamp: stampText(stamp) }]);
        if (await wakes(query, { run, runId, name })) await query("update callgate.runs set due_at_ms = least(due_at_ms, callgate.now_ms($2)) where run_id = $1", [runId, time.given()]);
        return { kind: "kept", position };
      }));
    },
  };

  async function wakes(query: Query, { run, runId, name }: Pick<Keeping, "run" | "name"> & { readonly runId: string }): Promise<boolean> {
    if (run["status"] !== "suspended") return false;
    const waits = jsonColumn<RunWait[]>({ ...run, run_id: runId }, "waits", waitsShape);
    if (!isCounted(waits, name)) return isAnsweredBy(waits, name, 0);
    if ((await query(isDue, [runId, time.given()])).length > 0) return false;
    return isAnsweredBy(waits, name, Number((await query(countEvents, [runId, name.name]))[0]?.["events"]));
  }

  async function keep(query: Query, { place: { tenant, runId }, run, name, position, body }: Keeping, { payload, blob }: Awaited<ReturnType<typeof storePayload>>): Promise<Stamp> {
    const key = openRunKey(masterKey, runId, run);
    const sealed = payload === undefined || key.kind !== "box" ? null : sealPayload(key.box, payload, signalPlace(runId, position));
    const userId = String(run["user_id"]);
    await query("insert into callgate.signals values ($1, $2, $3, $4, $5, $6, $7, $8, $9)", [runId, position, tenant, userId, name.kind, name.name, name.key ?? null, body, sealed]);
    if (blob !== undefined) await query("insert into callgate.blob_refs values ($1, $2, $3, $4, $5) on conflict do nothing", [runId, blob.digest, tenant, userId, blob.sizeBytes]);
    const cells = signalCells({ tenant, user_id: userId, kind: name.kind, name: name.name, key: name.key });
    return stamps.signal(runId, position, { cells, body, sealedDigest: sealedDigestOf(sealed) });
  }
}

async function positionOf(query: Query, runId: string, { kind, name, key }: SignalName): Promise<number | undefined> {
  const [row] = key === undefined ? [] : await query(selectKnown, [runId, kind, name, key]);
  return row === undefined ? undefined : Number(row["position"]);
}

interface Keeping {
  readonly place: RunPlace;
  readonly run: SqlRow;
  readonly name: SignalName;
  readonly position: number;
  readonly body: string;
}

/** Names of what was said to a run, in order. */
export async function saidTo(query: Query, runId: string): Promise<(SignalName & { readonly position: number })[]> {
  const rows = await query("select kind, name, key, position from callgate.signals where run_id = $1 order by position", [runId]);
  return rows.map((row: SqlRow) => ({ kind: row["kind"] as RunSignal["kind"], name: String(row["name"]), key: row["key"] === null ? undefined : textColumn(row, "key"), position: Number(row["position"]) }));
}

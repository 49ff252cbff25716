import { createHmac, createSecretKey, hash } from "node:crypto";
import type { MasterKey } from "../secrets/master-key.ts";

/** What a chain of stamps goes on from: 8 bytes that name the journal's key, and an HMAC-SHA-256. */
export type Stamp = Uint8Array;

type Cell = string | number | null;

/** The columns of a run that never change. `sealedDigest`: of the program as it is sealed. */
export interface RunOrigin {
  readonly runId: string;
  /** Position of the first chained entry. */
  readonly from: number;
  readonly cells: readonly Cell[];
  readonly sealedDigest: string | null;
}

/** A row of entries. */
export interface StampedRow {
  readonly runId: string;
  readonly position: number;
  /** The other columns, apart from what is sealed. */
  readonly cells: readonly Cell[];
  readonly body: string;
  readonly sealedDigest: string | null;
}

/** How a run stands. */
export interface RunSealing {
  readonly runId: string;
  readonly from: number;
  /** Position of its next entry, and stamp of the row before it. */
  readonly next: number;
  readonly last: Stamp;
  readonly programDigest: string | null;
  /** Once it has ended: status, time, number of its result, what is kept of its finish, digest of its sealed error. */
  readonly end: readonly Cell[] | null;
}

export interface LedgerPlace {
  readonly lane: number;
  readonly position: number;
  readonly tenant: string;
  readonly atMs: number;
}

/**
 * Makes the stamps that show any later change of the record (docs/decisions). Without the journal's key none can be made.
 * What is sealed goes in by its SHA-256, so that an erase can keep that and drop the bytes.
 */
export interface AuditStamps {
  /** Begins the chain of a run. */
  origin(run: RunOrigin): Stamp;
  row(previous: Stamp, row: StampedRow): Stamp;
  seal(run: RunSealing): Stamp;
  signal(runId: string, position: number, parts: { readonly cells: readonly Cell[]; readonly body: string; readonly sealedDigest: string | null }): Stamp;
  line(previous: Stamp, place: LedgerPlace, body: string): Stamp;
  /** Says that a line is the last of its lane. */
  tail(line: Stamp): Stamp;
  /** Whether it was made under this key, or says so. */
  isOurs(stamp: Stamp): boolean;
}

const KEY_ID_BYTES = 8;

/** Before the first line of a lane. */
export const noStamp: Stamp = new Uint8Array(0);

export function createAuditStamps(masterKey: MasterKey): AuditStamps {
  const key = createSecretKey(masterKey.derive("audit"));
  const keyId = Buffer.from(masterKey.id, "hex").subarray(0, KEY_ID_BYTES);

  /** The head is one line of JSON, so it cannot run into what follows. */
  function stamp(head: readonly unknown[], previous: Stamp, body: string): Stamp {
    const mac = createHmac("sha256", key).update(`${JSON.stringify(head)}\n`).update(previous).update(body).digest();
    return Buffer.concat([keyId, mac]);
  }

  return {
    origin: ({ runId, from, cells, sealedDigest }) => stamp(["run", runId, from, cells, sealedDigest], noStamp, ""),
    row: (previous, { runId, position, cells, body, sealedDigest }) => stamp(["row", runId, position, cells, sealedDigest, previous.length], previous, body),
    seal: ({ runId, from, next, last, programDigest, end }) => stamp(["seal", runId, from, next, programDigest, end], last, ""),
    signal: (runId, position, { cells, body, sealedDigest }) => stamp(["signal", runId, position, cells, sealedDigest], noStamp, body),
    line: (previous, { lane, position, tenant, atMs }, body) => stamp(["line", lane, position, tenant, atMs, previous.length], previous, body),
    tail: (line) => stamp(["tail"], line, ""),
    isOurs: (made) => keyId.equals(made.subarray(0, KEY_ID_BYTES)),
  };
}

/** What stands for sealed bytes in a stamp, and for them in the record once they were erased. */
export function sealedDigestOf(sealed: Uint8Array | null | undefined): string | null {
  return sealed === null || sealed === undefined ? null : hash("sha256", sealed, "hex");
}

/** A stamp as text. */
export function stampText(stamp: Stamp): string {
  return Buffer.from(stamp).toString("base64url");
}

export function isSame(stamp: unknown, made: Stamp): boolean {
  return stamp instanceof Uint8Array && Buffer.compare(stamp, made) === 0;
}

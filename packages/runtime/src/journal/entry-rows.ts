import type { Digest, JournalEntry } from "@callgate/contract";
import type { SealedBox } from "../secrets/sealed-box.ts";
import { textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { SplitEntry } from "./entry-codec.ts";
import { openPayload, openPayloads, payloadPlace, payloadsPlace, sealPayload, sealPayloads } from "./payload.ts";
import type { Payload } from "./payload.ts";
import { indexedNumber } from "./run-record.ts";
import { isEntry } from "./stored-shapes.ts";

/** An entry ready to be written: large values are blobs already. */
export interface PreparedEntry {
  readonly split: SplitEntry;
  readonly payload: Payload | undefined;
  readonly blobs: readonly { readonly digest: Digest; readonly sizeBytes: number }[];
}

/** Entries of a run with the same `entry_id / runSpan` are its own. */
export const runSpan = 2 ** 24;

/** Up to so many UTF-16 units go into one row; a row that is too large is slow to read a part of. */
const maxRowChars = 256 * 1024;

/** Entries of one run that wait to be written as one row. */
export interface WaitingRow {
  /** Position of the first. */
  readonly position: number;
  readonly bodies: string[];
  readonly payloads: (Payload | undefined)[];
  first: JournalEntry;
  atMs: number;
  calls: number;
  hasTexts: boolean;
  chars: number;
}

/** Columns of a row of `entries`, apart from its id and whose it is. */
export interface EntryRow {
  readonly kind: string;
  readonly atMs: number;
  readonly seq: number | null;
  readonly size: number;
  readonly calls: number;
  readonly body: string;
  readonly texts: 0 | 1;
  readonly sealed: Uint8Array | null;
}

export function newRow(position: number, first: JournalEntry): WaitingRow {
  return { position, bodies: [], payloads: [], first, atMs: first.atMs, calls: 0, hasTexts: false, chars: 0 };
}

export function isFull({ chars }: WaitingRow): boolean {
  return chars >= maxRowChars;
}

export function addToRow(row: WaitingRow, { split: { body }, payload }: PreparedEntry): void {
  const text = JSON.stringify(body);
  row.bodies.push(text);
  row.payloads.push(payload);
  row.atMs = body.atMs;
  row.chars += text.length + (payload?.value !== undefined && "json" in payload.value ? payload.value.json.length : 0);
  if (body.kind === "call-issued") row.calls += 1;
  if (payload?.texts !== undefined) row.hasTexts = true;
}

/** @param box undefined once the run was erased, or when its key is not ours: nothing of it is kept in clear either */
export function writtenRow(runId: string, row: WaitingRow, box: SealedBox | undefined): EntryRow {
  const { position, bodies, payloads, first, atMs, calls, hasTexts } = row;
  const size = bodies.length;
  const common = { atMs, size, calls, texts: hasTexts ? 1 : 0 } as const;
  const [body, payload] = [bodies[0], payloads[0]];
  if (size === 1 && body !== undefined) {
    const sealed = box === undefined || payload === undefined ? null : sealPayload(box, payload, payloadPlace(runId, position));
    return { ...common, kind: first.kind, seq: indexedNumber(first), body, sealed };
  }
  const isEmpty = payloads.every((one) => one === undefined);
  const sealed = box === undefined || isEmpty ? null : sealPayloads(box, payloads, payloadsPlace(runId, position, size));
  return { ...common, kind: "batch", seq: null, body: `[${bodies.join(",")}]`, sealed };
}

/** An entry as a row holds it. `payload` is undefined when there is none, or it was not read. */
export interface StoredEntry {
  readonly body: JournalEntry;
  readonly payload: Payload | undefined;
}

/** The entries of a row as they read once their run is erased. Throws a SyntaxError where it does not hold any. */
export function bodiesOf(row: Row): readonly JournalEntry[] {
  const parsed: unknown = JSON.parse(textColumn(row, "body"));
  const bodies: readonly unknown[] = row["kind"] === "batch" && Array.isArray(parsed) ? parsed : [parsed];
  return bodies.map(entryOf);
}

/** Something that was read as the entry that it is. Throws a SyntaxError where it is none. */
export function entryOf(parsed: unknown): JournalEntry {
  if (!isEntry(parsed)) throw new SyntaxError("This is no entry of a journal");
  return parsed;
}

/** The entries of a row with `entry_id`, `kind`, `body` and `sealed`. Undefined when what is sealed is not what was written there. */
export function readRow(row: Row, runId: string, box: SealedBox | undefined): readonly StoredEntry[] | undefined {
  const position = Number(row["entry_id"]) % runSpan;
  const sealed = row["sealed"];
  const bodies = bodiesOf(row);
  if (!(sealed instanceof Uint8Array) || box === undefined) return bodies.map((body) => ({ body, payload: undefined }));
  const payloads = row["kind"] === "batch" ? openPayloads(box, sealed, payloadsPlace(runId, position, bodies.length)) : one(openPayload(box, sealed, payloadPlace(runId, position)));
  return payloads === undefined ? undefined : bodies.map((body, index) => ({ body, payload: payloads[index] }));
}

function one(payload: Payload | undefined): readonly Payload[] | undefined {
  return payload === undefined ? undefined : [payload];
}

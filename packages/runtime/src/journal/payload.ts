import type { WireValue } from "@callgate/contract";
import type { SealedBox } from "../secrets/sealed-box.ts";
import type { SplitEntry } from "./entry-codec.ts";

/** What is sealed beside an entry: texts, and a value either whole or as the name of the blob that holds it. */
export interface Payload {
  readonly texts: SplitEntry["texts"];
  readonly value: { readonly tagged: boolean; readonly json: string } | { readonly tagged: boolean; readonly blob: string } | undefined;
}

interface Header {
  readonly texts?: SplitEntry["texts"];
  /** `chars` is there where several values follow each other. */
  readonly value?: { readonly tagged: boolean; readonly blob?: string; readonly chars?: number };
}

/**
 * Seals a payload for one place of one run: a line of JSON, then the value's JSON text as it is (so that a large value
 * is not escaped a second time).
 */
export function sealPayload(box: SealedBox, payload: Payload, place: string): Uint8Array {
  const { texts, value } = payload;
  const header: Header = {
    ...(texts === undefined ? {} : { texts }),
    ...(value === undefined ? {} : { value: "blob" in value ? value : { tagged: value.tagged } }),
  };
  const line = JSON.stringify(header);
  return box.seal(value !== undefined && "json" in value ? `${line}\n${value.json}` : line, place);
}

/** Undefined when the box has another key or the bytes belong to another place. */
export function openPayload(box: SealedBox, sealed: Uint8Array, place: string): Payload | undefined {
  const clear = box.open(sealed, place);
  if (clear === undefined) return undefined;
  const end = clear.indexOf(0x0a);
  const header = JSON.parse(clear.toString("utf8", 0, end === -1 ? clear.length : end)) as Header;
  const { texts, value } = header;
  if (value === undefined) return { texts, value: undefined };
  const { tagged, blob } = value;
  return { texts, value: blob === undefined ? { tagged, json: clear.toString("utf8", end + 1) } : { tagged, blob } };
}

/** Seals the payloads of several entries at once: a line of JSON about each, then the values' texts one after the other. */
export function sealPayloads(box: SealedBox, payloads: readonly (Payload | undefined)[], place: string): Uint8Array {
  let values = "";
  const headers = payloads.map((payload): Header | null => {
    if (payload === undefined) return null;
    const { texts, value } = payload;
    const named = texts === undefined ? {} : { texts };
    if (value === undefined || "blob" in value) return value === undefined ? named : { ...named, value };
    values += value.json;
    return { ...named, value: { tagged: value.tagged, chars: value.json.length } };
  });
  return box.seal(`${JSON.stringify(headers)}\n${values}`, place);
}

/** What `sealPayloads` sealed; undefined as for `openPayload`. */
export function openPayloads(box: SealedBox, sealed: Uint8Array, place: string): readonly (Payload | undefined)[] | undefined {
  const clear = box.open(sealed, place)?.toString("utf8");
  if (clear === undefined) return undefined;
  let at = clear.indexOf("\n") + 1;
  return (JSON.parse(clear.slice(0, at)) as readonly (Header | null)[]).map((header) => {
    if (header === null) return undefined;
    const { texts, value } = header;
    if (value === undefined) return { texts, value };
    const { tagged, blob, chars = 0 } = value;
    if (blob !== undefined) return { texts, value: { tagged, blob } };
    at += chars;
    return { texts, value: { tagged, json: clear.slice(at - chars, at) } };
  });
}

/** Where the payload of an entry belongs; authenticated, so that rows cannot be swapped. */
export function payloadPlace(runId: string, position: number): string {
  return `${runId}\n${position}`;
}

/** Where the payloads of a row of several entries belong. */
export function payloadsPlace(runId: string, position: number, size: number): string {
  return `${runId}\n${position}+${size}`;
}

/** Where a value kept as a blob belongs. */
export function blobPlace(runId: string): string {
  return `${runId}\nblob`;
}

/** Whether a value is kept as a blob: from `blobBytes` UTF-16 units of JSON on. */
export function isBlobSized(value: WireValue | undefined, blobBytes: number): value is WireValue {
  return value !== undefined && value.json.length >= blobBytes;
}

import type { Digest, JsonValue } from "./json.ts";
import type { WireValue } from "./value-codec.ts";

/**
 * A value as the journal keeps it: a digest, a bounded summary in which sensitive parts are keyed hashes, and the
 * clear value. The clear value is encrypted under the run's key; from 256 KiB on it is a blob.
 */
export interface RecordedValue {
  readonly digest: Digest;
  readonly summary: JsonValue;
  /** Absent when it was not kept, was erased, or was read without its clear values. */
  readonly clear?: WireValue;
}

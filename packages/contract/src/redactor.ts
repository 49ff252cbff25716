import type { JsonValue } from "./json.ts";
import type { RecordedValue } from "./recorded-value.ts";
import type { WireValue } from "./value-codec.ts";

/**
 * Makes what may be written down. One instance knows the secrets of the process and the key for hashes.
 *
 * - `record` gives digest, summary and clear value of one value; `sensitive` are JSON Pointers into it.
 * - `summary` is bounded (4 KiB of JSON) and holds sensitive parts as `hash:<16 hex>`, equal for equal values.
 * - `text` replaces every known secret, exact, base64 and URL-encoded, by `[secret]`. Split forms are not caught.
 */
export interface Redactor {
  record(value: unknown, wire: WireValue, sensitive: readonly string[]): RecordedValue;
  summary(value: unknown, sensitive: readonly string[]): JsonValue;
  /** The same without bound, for a person who is to answer for all of it. */
  whole(value: unknown, sensitive: readonly string[]): JsonValue;
  text(text: string): string;
}

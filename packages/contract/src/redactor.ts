import type { JsonValue } from "./json.ts";
import type { RecordedValue } from "./recorded-value.ts";
import type { WireValue } from "./value-codec.ts";

/** What is recognised in values and texts without anybody declaring it (docs/guide/audit.md). */
export const detectorNames = ["secret", "email", "phone", "card", "iban"] as const;

/** `secret`: keys and tokens of well-known shapes, private keys, passwords in URLs, fields named like one. */
export type DetectorName = (typeof detectorNames)[number];

/** Which detectors look. What is left out stays as it is around it; a gate's own are all on unless it says otherwise. */
export type DetectorSwitches = { readonly [Name in DetectorName]?: boolean | undefined };

/** A place in a value: a JSON Pointer whose value is sensitive, or one below which detectors are switched. `*` stands for every item. */
export type SensitiveMark = string | { readonly pointer: string; readonly detect: DetectorSwitches };

/**
 * Makes what may be written down. One instance knows the secrets of the process and the key for hashes.
 *
 * - `record` gives digest, summary and clear value of one value.
 * - `summary` is bounded (4 KiB of JSON) and holds sensitive parts as `hash:<16 hex>`, equal for equal values, and what
 *   detectors found as `[email hash:<16 hex>]`, likewise.
 * - `text` replaces every known secret, exact, base64 and URL-encoded, by `[secret]`, and what detectors find by its hash.
 *   Split forms are not caught.
 */
export interface Redactor {
  record(value: unknown, wire: WireValue, marks: readonly SensitiveMark[]): RecordedValue;
  summary(value: unknown, marks: readonly SensitiveMark[]): JsonValue;
  /** The same without bound, for a person who is to answer for all of it: of the detectors only `secret` looks. */
  whole(value: unknown, marks: readonly SensitiveMark[]): JsonValue;
  text(text: string): string;
  /** For those who may see the values themselves, such as the model that wrote a program and reads its output: only known secrets are taken out. Never for what is written down. */
  output(text: string): string;
}

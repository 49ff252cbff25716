import { createSecretKey, hash as hashOf } from "node:crypto";
import { detectorNames, secretForms } from "@callgate/contract";
import type { DetectorSwitches, Digest, JsonValue, Redactor, SensitiveMark, WireValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { hideDetected } from "./detectors/detect.ts";
import { keyedHash } from "./keyed-hash.ts";
import { pointerTree } from "./pointer-tree.ts";
import { summarize, summarizeWhole } from "./summarize.ts";
import type { SummarizeOptions } from "./summarize.ts";

export interface RedactorOptions {
  /** Clear texts of every secret this process knows. */
  readonly secrets: readonly string[];
  /** For the hashes of sensitive values; one per installation, so that they compare across runs. */
  readonly key: Uint8Array;
  /** Which detectors look where a tool says nothing. Default: all. */
  readonly detect?: DetectorSwitches;
}

const allDetectors: DetectorSwitches = Object.fromEntries(detectorNames.map((name) => [name, true]));

/** Longest token whose begin, at the end of a cut text, nobody would know for one. */
const longestStart = 256;

/** From this many characters of JSON on a digest is of the text as it stands. */
const CANONICAL_CHARS = 256 * 1024;

const noSecret = /(?!)/g;

/**
 * Makes the redactor of a process.
 *
 * Digests: up to 256 Ki characters of JSON they are RFC 8785 digests, equal for equal values whatever the order of keys;
 * beyond that SHA-256 of the wire's JSON text as it stands, which costs a tenth and is equal for equal texts. Digests of
 * arguments come from `digestOfWire`, canonical at every size: keys and approvals hang on them.
 *
 * Secrets are found exact, in JSON, URL-encoded, hex and base64. Split, reversed, compressed or encrypted ones are not.
 * What else is recognised, detectors say (docs/decisions/0036-detectors.md).
 */
export function createRedactor({ secrets, key, detect = {} }: RedactorOptions): Redactor {
  const forms = [...new Set(secrets.flatMap((secret) => secretForms(secret)))].sort((a, b) => b.length - a.length);
  const pattern = forms.length === 0 ? noSecret : new RegExp(forms.map(escapePattern).join("|"), "g");
  const output = (value: string): string => (forms.length === 0 ? value : value.replaceAll(pattern, "[secret]"));
  const hashKey = createSecretKey(key);
  const hash = (value: unknown): string => keyedHash(hashKey, value);
  const usual: DetectorSwitches = { ...allDetectors, ...detect };
  const forPerson: DetectorSwitches = { secret: usual.secret };
  const hideIn = (value: string, switches: DetectorSwitches): string => hideDetected(output(value), switches, hash);
  const longestForm = Math.max(forms[0]?.length ?? 0, longestStart);

  function optionsOf(marks: readonly SensitiveMark[], gate: DetectorSwitches): SummarizeOptions {
    return { sensitive: pointerTree(marks), hash, text: hideIn, detect: gate, longestForm };
  }

  const summary = (value: unknown, marks: readonly SensitiveMark[]): JsonValue => summarize(value, optionsOf(marks, usual));
  return {
    record: (value, wire, marks) => ({ digest: digestOfRecorded(wire), summary: summary(value, marks), clear: wire }),
    summary,
    whole: (value, marks) => summarizeWhole(value, optionsOf(marks.filter((mark) => typeof mark === "string"), forPerson)),
    text: (value) => hideIn(value, usual),
    output,
  };
}

function digestOfRecorded(wire: WireValue): Digest {
  if (wire.json.length <= CANONICAL_CHARS) return digestOfWire(wire);
  return `sha256:${hashOf("sha256", wire.json)}`;
}

/** `RegExp.escape` for Node before 24. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

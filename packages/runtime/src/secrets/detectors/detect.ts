import { detectorNames } from "@callgate/contract";
import type { DetectorName, DetectorSwitches } from "@callgate/contract";
import { findCards, findIbans } from "./find-accounts.ts";
import { findEmails, findPhones } from "./find-contacts.ts";
import { findSecrets } from "./find-secrets.ts";
import type { Finder, Found } from "./found.ts";

const finders: Readonly<Record<DetectorName, Finder>> = { secret: findSecrets, email: findEmails, phone: findPhones, card: findCards, iban: findIbans };

/** Nothing that is looked for is shorter. */
const minChars = 6;

/**
 * Puts `[kind hash]` in the place of what the detectors that are on find in a text. Where two find something in one place,
 * the one that begins first stands, and of those the longest.
 */
export function hideDetected(text: string, switches: DetectorSwitches, hash: (value: string) => string): string {
  if (text.length < minChars) return text;
  const found: Found[] = [];
  for (const name of detectorNames) if (switches[name] === true) found.push(...finders[name](text));
  if (found.length === 0) return text;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let at = 0;
  for (const { kind, start, end, value } of found) {
    if (end <= at) continue;
    // What overlaps the one before is hidden with it, as far as it goes beyond.
    parts.push(text.slice(at, Math.max(at, start)), hidden(kind, hash(value)));
    at = end;
  }
  return parts.join("") + text.slice(at);
}

/** What the detectors find in a text, as it is written there. */
export function findDetected(text: string, switches: DetectorSwitches): readonly { readonly kind: DetectorName; readonly text: string }[] {
  if (text.length < minChars) return [];
  return detectorNames.flatMap((name) => (switches[name] === true ? finders[name](text).map(({ kind, start, end }) => ({ kind, text: text.slice(start, end) })) : []));
}

/** What stands for a value of that kind. */
export function hidden(kind: DetectorName, hash: string): string {
  return `[${kind} ${hash}]`;
}

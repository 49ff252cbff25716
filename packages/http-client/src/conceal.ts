import { secretForms } from "@callgate/contract";

/** A shorter one turns up in texts by chance: it is not taken out of answers. */
const minSecretChars = 6;

/** The bytes with every form of the secrets replaced by `[secret]`; the same array where none is in them. */
export function concealBytes(bytes: Uint8Array, secrets: readonly string[]): Uint8Array {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = formsOf(secrets).filter((form) => whole.includes(form));
  if (found.length === 0) return bytes;
  // One character of latin1 is one byte, so that any body can be searched as text and comes out as it was elsewhere.
  const text = found.reduce((rest, form) => rest.replaceAll(Buffer.from(form).toString("latin1"), "[secret]"), whole.toString("latin1"));
  return Buffer.from(text, "latin1");
}

/** The text with every form of the secrets replaced by `[secret]`. */
export function concealText(text: string, secrets: readonly string[]): string {
  return formsOf(secrets).reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}

function formsOf(secrets: readonly string[]): readonly string[] {
  const long = secrets.filter((secret) => secret.length >= minSecretChars);
  // JSON may write a slash with a backslash before it, and some servers always do.
  const forms = long.flatMap((secret) => [...secretForms(secret), JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/")]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

import { findSecrets } from "@callgate/runtime/text";

/** A name that says that what stands under it may be a secret. Too many rather than too few: what is taken for one becomes a reference. */
const secretName =
  /token|secret|pass|pwd|auth|cred|cookie|session|private|dsn|connection|licen[cs]e|serial|webhook|api[-_]?key|(?:^|[-_.])(?:key|pat|jwt|sig|signature|pin|code|otp|mfa|salt|seed)\d*(?:$|[-_.])|[a-z](?:Key|Pin|Code|Otp)$/i;

const plainShapes: readonly RegExp[] = [
  /^$/,
  /^(?:true|false|yes|no|on|off|null)$/i,
  /^-?\d{1,5}(?:\.\d{1,3})?$/,
  // One word, such as production, stdio or en_US.
  /^[A-Za-z]{1,16}(?:[-_][A-Za-z]{1,16}){0,3}$/,
  // A path, or several as in PATH.
  /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w .@~:\\/-]*$/,
  // A host, or an address without anything behind it.
  /^(?:https?:\/\/[a-z0-9.-]{1,80}|localhost|[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60})*\.[a-z]{2,20}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?\/?$/i,
];

/** Letters with a number behind them at most, as words, versions and names have them. Shorter than any key of a service. */
const wordShapes: readonly RegExp[] = [/^\d{1,8}$/, /^[a-z]{1,24}\d{0,4}$/, /^[A-Z]{1,24}\d{0,4}$/, /^(?=.{1,15}$)[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*\d{0,4}$/, /^(?=.{1,15}$)v?\d{1,4}[a-z]{0,4}$/];

/** From this many characters on, what is no word is taken for a key. */
const minKeyChars = 7;

/** Whether a name says that its value is secret. */
export function isSecretish(name: string): boolean {
  return secretName.test(name);
}

/** Whether a value may be copied into a file as it is: its name is harmless, and it looks like nothing that anybody keeps secret. */
export function isPlainValue(name: string, value: string): boolean {
  return !isSecretish(name) && plainShapes.some((shape) => shape.test(value)) && !isKeyLike(value) && findSecrets(value).length === 0;
}

/** Whether a text holds what is more likely a key than words, a path, a version or the name of a package: letters and digits, or cases, mixed. @param minChars of what is no word */
export function isKeyLike(text: string, minChars = minKeyChars): boolean {
  // Groups of equal length, as keys of licenses have them.
  if (/(?:^|[^A-Za-z0-9])([A-Z0-9]{4,8}-){2,}[A-Z0-9]{4,8}(?![A-Za-z0-9])/.test(text) && /\d/.test(text)) return true;
  const odd = text.split(/[^A-Za-z0-9]+/).filter((piece) => piece !== "" && !wordShapes.some((shape) => shape.test(piece)));
  return odd.join("").length >= minChars;
}

/** Whether an argument is evidently a path, a number, a word or the name of a package. */
export function isPlainArgument(word: string): boolean {
  if (isKeyLike(word)) return false;
  const isPathOrNumber = /^[\d.:,-]+$/.test(word) || /[\\/]/.test(word) || /^[\w-]+(?:\.[\w-]+)*\.[a-z]{1,5}\d?$/i.test(word);
  return isPathOrNumber || word === "." || word === ".." || /^[A-Za-z]+(?:[-_:][A-Za-z]+)*(?:@[\w.^~-]+|==[\w.]+)?$/.test(word);
}

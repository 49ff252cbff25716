import { findSecrets } from "@callgate/runtime/text";

/** A name that says that what stands under it may be a secret. Too many rather than too few: what is taken for one becomes a reference. */
const secretName = /token|secret|pass|pwd|auth|cred|cookie|session|private|dsn|connection|api[-_]?key|(?:^|[-_.])(?:key|pat|jwt|sig|signature)(?:$|[-_.])|[a-z]Key$/i;

const plainShapes: readonly RegExp[] = [
  /^$/,
  /^(?:true|false|yes|no|on|off|null)$/i,
  /^-?\d{1,6}(?:\.\d{1,6})?$/,
  // One word, such as production, stdio or en_US.
  /^[A-Za-z]{1,16}(?:[-_][A-Za-z]{1,16}){0,3}$/,
  // A path, or several as in PATH.
  /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w .@~:\\/-]*$/,
  // A host, or an address without anything behind it.
  /^(?:https?:\/\/)?[a-z0-9.-]{1,80}(?::\d{1,5})?\/?$/i,
];

/** Whether a name says that its value is secret. */
export function isSecretish(name: string): boolean {
  return secretName.test(name);
}

/** Whether a value may be copied into a file as it is: its name is harmless, and it looks like nothing that anybody keeps secret. */
export function isPlainValue(name: string, value: string): boolean {
  return !isSecretish(name) && plainShapes.some((shape) => shape.test(value)) && !hasLongSegment(value) && findSecrets(value).length === 0;
}

/** Keys in paths and hosts: long, with letters and digits mixed. */
function hasLongSegment(value: string): boolean {
  return value.split(/[\\/.:]/).some(isKeyLike);
}

/** Whether a part of a path or URL is more likely a key than a word. */
export function isKeyLike(segment: string): boolean {
  return segment.length >= 20 && /\d/.test(segment) && /[A-Za-z]/.test(segment) && !/^[a-z]+(?:-[a-z0-9]{1,10})+$/.test(segment);
}

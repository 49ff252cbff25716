/** Characters of what a server sent that are repeated. */
const SHOWN_CHARS = 160;

/**
 * What a server sent, as it may stand in a message: quoted, bounded, every character that acts instead of showing
 * written out (`\u001b`).
 */
export function receivedText(text: string): string {
  const cut = text.length > SHOWN_CHARS ? text.slice(0, SHOWN_CHARS).toWellFormed() : text.toWellFormed();
  const quoted = JSON.stringify(cut).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
  return text.length > SHOWN_CHARS ? `${quoted}… (${text.length} characters)` : quoted;
}

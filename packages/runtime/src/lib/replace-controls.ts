/**
 * Characters that act instead of showing: control characters, those that turn the direction of text or break its line,
 * and those nobody sees. Joiners are not among them: scripts and emoji are written with them.
 */
const controls = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u{ad}\u{180e}\u{200b}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]/gu;

/**
 * Puts something harmless in the place of every character that could move a cursor, colour a line, turn text around or
 * hide it. The one list of such characters: for names, for files, for what a person reads.
 */
export function replaceControls(text: string, harmless: (character: string) => string): string {
  return text.replace(controls, harmless);
}

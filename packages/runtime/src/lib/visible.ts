import { replaceControls } from "./replace-controls.ts";

/** Text from a model, program or tool made harmless for whoever reads it: characters that act or hide become visible. Lines and tabs stay. */
export function visible(text: string): string {
  return replaceControls(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === "\n" || character === "\t") return character;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

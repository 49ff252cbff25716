import { describe, expect, test } from "vitest";
import { replaceControls } from "./replace-controls.ts";

const shown = (text: string): string => replaceControls(text, (character) => `<${character.codePointAt(0)?.toString(16)}>`);

describe("replaceControls", () => {
  test.each([
    ["\u001b[2K", "<1b>[2K"],
    ["a\u009b1m", "a<9b>1m"],
    ["a\u202eb\u2066c\u200f", "a<202e>b<2066>c<200f>"],
    ["line\u2028para\u2029", "line<2028>para<2029>"],
    ["in\u200bvis\u2060ible\ufeff\u00ad", "in<200b>vis<2060>ible<feff><ad>"],
    ["tag\u{e0041}", "tag<e0041>"],
  ])("replaces what acts or hides in %j", (text, expected) => expect(shown(text)).toBe(expected));

  test.each(["naïve 名前 \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "👩\u200d🚀 e\u0301"])("leaves writing alone: %s", (text) => expect(shown(text)).toBe(text));
});

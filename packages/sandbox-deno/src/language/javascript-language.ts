import { missingGlobals, libraryTexts, preludeText } from "@callgate/sandbox-quickjs";
import { writeFrame } from "@callgate/sandbox-process";
import type { GuestLanguage } from "@callgate/sandbox-process";

/** Checked programs: JavaScript, whichever of the two the model wrote. */
export const denoJavaScript: GuestLanguage = {
  language: "javascript",
  also: ["typescript"],
  kind: "framed",
  command: ["{guest}"],
  guestFile: new URL("../../guests/javascript.js", import.meta.url),
  environment: {},
  growthMiB: 16,
};

/** The world of programs, the same as in the embedded sandbox: what is checked against one runs in the other. */
export function javaScriptWorld(): Uint8Array {
  return writeFrame({ k: "world" }, JSON.stringify({ prelude: preludeText, libraries: libraryTexts, missing: missingGlobals }));
}

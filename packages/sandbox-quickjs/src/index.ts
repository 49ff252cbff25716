// The embedded JavaScript sandbox.

export type { QuickJsDriverOptions } from "./driver.ts";
export { createQuickJsDriver } from "./driver.ts";
export { libraryTexts, preludeText } from "./guest-text.ts";
export { missingGlobals } from "./worker/guest-end.ts";

// The embedded JavaScript sandbox.

export type { QuickJsDriverOptions } from "./driver.ts";
export { createQuickJsDriver } from "./driver.ts";

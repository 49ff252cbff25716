// Sandboxes that come out of npm for every operating system: Deno without permissions, and Pyodide in it.

export { createDenoDriver } from "./deno-driver.ts";
export type { DenoDriverOptions } from "./deno-driver.ts";
export { createDenoLauncher } from "./launcher/deno-launcher.ts";
export type { DenoLauncherOptions } from "./launcher/deno-launcher.ts";

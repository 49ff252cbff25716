// Sandboxes that come out of npm for every operating system: Deno without permissions, and Pyodide in it.

export { createDenoDriver } from "./deno-driver.ts";
export type { DenoDriverOptions } from "./deno-driver.ts";
export { checkDenoWalls } from "./doctor/check-deno-walls.ts";
export { createDenoLauncher } from "./launcher/deno-launcher.ts";
export type { DenoLauncherOptions } from "./launcher/deno-launcher.ts";
export { createPyodideDriver } from "./pyodide-driver.ts";
export type { PyodideDriverOptions } from "./pyodide-driver.ts";
export { createPyodideLauncher } from "./pyodide/pyodide-launcher.ts";
export type { PyodideLauncherOptions } from "./pyodide/pyodide-launcher.ts";

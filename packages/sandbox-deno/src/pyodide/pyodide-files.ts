import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonLanguage } from "@callgate/sandbox-process";

/** What a Pyodide guest reads as it starts. */
export interface PyodideFiles {
  readonly version: string;
  /** Folder of the npm package, with a separator at its end. */
  readonly folder: string;
  /** The Python guest of process sandboxes, and what replaces what Pyodide lacks. */
  readonly python: readonly [guest: string, platform: string];
}

/** Undefined where the npm package is not installed. */
export function pyodideFiles(): PyodideFiles | undefined {
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve("pyodide/package.json");
    const { version } = require(manifest) as { version: string };
    const guest = pythonLanguage.guestFile;
    if (guest === undefined) return undefined;
    return { version, folder: join(dirname(manifest), "/"), python: [fileURLToPath(guest), fileURLToPath(new URL("../../guests/pyodide_platform.py", import.meta.url))] };
  } catch {
    return undefined;
  }
}

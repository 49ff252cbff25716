import { resolve } from "node:path";
import type { Checker } from "@callgate/contract";
import { lazyChecker } from "./lazy-checker.ts";

export interface PythonSettings {
  readonly version?: string | undefined;
  readonly modules?: readonly string[] | undefined;
  readonly folders?: readonly string[] | undefined;
  readonly functions?: Readonly<Record<string, string>> | undefined;
}

/**
 * The checker of Python, when its package is installed; it brings pyright (38 MB), so `npm i callgate` does without.
 * Nothing of it is loaded before the first Python program.
 *
 * @param folder where relative paths start
 */
export function pythonCheckers({ version, modules, folders = [], functions }: PythonSettings = {}, folder = process.cwd()): readonly Checker[] {
  if (!isInstalled("@callgate/check-python")) return [];
  return [
    lazyChecker("python", async () => {
      const { createPythonChecker } = await import("@callgate/check-python");
      return createPythonChecker({ ...(version === undefined ? {} : { pythonVersion: version }), ...(modules === undefined ? {} : { modules }), ...(functions === undefined ? {} : { functions }), folders: folders.map((one) => resolve(folder, one)) });
    }),
  ];
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

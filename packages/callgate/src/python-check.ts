import type { Checker } from "@callgate/contract";

export interface PythonSettings {
  readonly version?: string | undefined;
  readonly modules?: readonly string[] | undefined;
}

/**
 * The checker of Python, when its package is installed; it brings pyright (38 MB), so `npm i callgate` does without.
 * Nothing is started before the first Python program.
 */
export async function pythonCheckers({ version, modules }: PythonSettings = {}): Promise<readonly Checker[]> {
  try {
    const { createPythonChecker } = await import("@callgate/check-python");
    return [createPythonChecker({ ...(version === undefined ? {} : { pythonVersion: version }), ...(modules === undefined ? {} : { modules }) })];
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_MODULE_NOT_FOUND" && thrown.message.includes("@callgate/check-python")) return [];
    throw thrown;
  }
}

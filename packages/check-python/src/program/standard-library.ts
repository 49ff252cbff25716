import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pyrightFolder } from "../pyright-folder.ts";

/**
 * Modules of the standard library that a version of Python has, as pyright's own typeshed lists them: `name: 3.0-3.11`.
 * Private ones are left out.
 */
export function standardLibrary(pythonVersion: string): Set<string> {
  const file = join(pyrightFolder(), "dist/typeshed-fallback/stdlib/VERSIONS");
  const wanted = numberOf(pythonVersion);
  const modules = new Set<string>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, name = "", from = "", , to] = /^([A-Za-z]\w*|__future__): (\d+\.\d+)(-(\d+\.\d+)?)?/.exec(line) ?? [];
    if (name !== "" && numberOf(from) <= wanted && (to === undefined || numberOf(to) >= wanted)) modules.add(name);
  }
  return modules;
}

/** 3.9 is before 3.11. */
function numberOf(version: string): number {
  const [major = "0", minor = "0"] = version.split(".");
  return Number(major) * 1000 + Number(minor);
}

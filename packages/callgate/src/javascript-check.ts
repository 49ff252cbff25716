import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Checker } from "@callgate/contract";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import { lazyChecker } from "./lazy-checker.ts";

export interface JavaScriptSettings {
  /** Packages that programs in Node may import. */
  readonly packages?: readonly string[] | undefined;
  /** True where all TypeScript and JavaScript runs in Node. */
  readonly isAllNode: boolean;
}

/**
 * The checkers of TypeScript and JavaScript: as the embedded sandbox knows them, and as Node does. The second, a thread of
 * its own, is made by the first program that needs it.
 *
 * @param folder where `@types/node` is looked for first
 */
export function javaScriptCheckers({ packages = [], isAllNode }: JavaScriptSettings, folder = process.cwd()): readonly Checker[] {
  const node = lazyChecker("node", () => {
    const typesFolder = nodeTypesFolder(folder);
    return Promise.resolve(createTypeScriptChecker({ node: { packages, ...(typesFolder === undefined ? {} : { typesFolder }) } }));
  });
  return [isAllNode ? { ...node, language: "typescript" } : createTypeScriptChecker(), node];
}

/** Where the types of Node are: those of the project, else those that are installed beside Callgate. */
function nodeTypesFolder(folder: string): string | undefined {
  for (const from of [join(folder, "callgate"), import.meta.url]) {
    try {
      return dirname(createRequire(from).resolve("@types/node/package.json"));
    } catch {} // The next place, or none: the check says so where it matters.
  }
  return undefined;
}

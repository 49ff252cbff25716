import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What the guest has beyond ES2023, one by one: parts of ES2024 and later that its engine lacks must stay unknown to the check. */
const parts = ["es2023", "es2024.collection", "es2024.object", "es2024.promise", "es2024.string", "es2025.collection", "es2025.iterator", "es2025.promise", "es2025.regexp"];

const reference = /^\/\/\/ *<reference lib="([^"]+)" *\/>.*$/gm;

/** Makes a file a module, whose own names are nobody else's. */
const moduleMark = /^export \{\};?$/m;

/**
 * The declarations of the language by file name, the compiler's own eighty put together as one but for those that are
 * modules. Every check merges the globals of all files anew (`Array` is declared in a dozen); those of one file were merged
 * when it was bound.
 *
 * @param more parts that another guest has as well
 */
export function readLanguageLibs(more: readonly string[] = []): ReadonlyMap<string, string> {
  const folder = dirname(createRequire(import.meta.url).resolve("typescript"));
  const seen = new Set<string>();
  const together: string[] = [];
  const modules: [string, string][] = [];
  const add = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = readFileSync(join(folder, `lib.${name}.d.ts`), "utf8");
    for (const [, referred = ""] of text.matchAll(reference)) add(referred);
    if (moduleMark.test(text)) modules.push([`lib.${name}.d.ts`, text.replace(reference, "")]);
    else together.push(text.replace(reference, ""));
  };
  for (const name of [...parts, ...more]) add(name);
  return new Map([["lib.callgate.d.ts", together.join("\n")], ...modules]);
}

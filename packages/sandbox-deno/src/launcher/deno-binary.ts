import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Where the program `deno` of the npm package is, or why it is not there. Its install script need not have run. */
export function denoBinary(platform: string = process.platform, arch: string = process.arch): { readonly path: string } | { readonly missing: string } {
  const name = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
  try {
    const ofDeno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
    const path = join(dirname(ofDeno.resolve(`${name}/package.json`)), platform === "win32" ? "deno.exe" : "deno");
    if (existsSync(path)) return { path };
  } catch {} // Told below.
  return { missing: name };
}

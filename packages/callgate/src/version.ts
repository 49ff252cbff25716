import { createRequire } from "node:module";

const manifest = createRequire(import.meta.url)("../package.json") as { readonly version: string };

/** The version of this package, from its manifest. */
export const version: string = manifest.version;

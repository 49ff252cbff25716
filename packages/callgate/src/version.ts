import { readFileSync } from "node:fs";
import { z } from "zod";

const manifest = z.object({ version: z.string() });

/** The version of this package, from its manifest. */
export const version: string = manifest.parse(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))).version;

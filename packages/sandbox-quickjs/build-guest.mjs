// Guards: the text that runs inside the sandbox is exactly what src/guest/ says. The guest's modules are bundled into
// one checked-in string, so that the package needs no bundler at run time and works from source and from dist alike.
// `node packages/sandbox-quickjs/build-guest.mjs` writes it; guest-text.int.test.ts fails when it is out of step.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Text of one guest module as an expression whose value is its export `name`. */
async function bundle(entry, name) {
  const result = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2023",
      minify: "oxc",
      lib: { entry: here(entry), formats: ["iife"], name: "guest" },
      rollupOptions: { treeshake: { moduleSideEffects: false } },
    },
  });
  const [{ output }] = result;
  return `(()=>{${output[0].code.trim()};return guest.${name}})()`;
}

export async function guestText() {
  const prelude = await bundle("src/guest/boot.ts", "boot");
  const libraries = { web: await bundle("src/guest/web.ts", "web") };
  return `// Written by build-guest.mjs from src/guest/. Do not edit.

/** Evaluates to \`boot\` of src/guest/boot.ts. */
export const preludeText = ${JSON.stringify(prelude)};

/** Parts of the guest that are loaded when a program first uses them, by name. */
export const libraryTexts: Readonly<Record<string, string>> = ${JSON.stringify(libraries, null, 2)};
`;
}

export const guestTextPath = here("src/guest-text.ts");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await guestText();
  const old = await readFile(guestTextPath, "utf8").catch(() => "");
  if (old !== text) await writeFile(guestTextPath, text);
  process.stdout.write(`${guestTextPath}: ${text.length} characters${old === text ? ", unchanged" : ""}\n`);
}

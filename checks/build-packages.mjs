// Builds what a user would install, into one folder: each package with the manifest npm would publish (npm itself does not
// apply publishConfig.exports), its code bundled to a few files, and, where asked, its declarations. Nothing is published.
//
// A command line that reads a thousand small files starts three times slower than one that reads fifty, so each package is
// bundled by itself. What packages import of each other, and of others, stays an import: a class exists once.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { rolldown } from "rolldown";

const repository = resolve(import.meta.dirname, "..");
const shippedFolders = ["README.md", "bin", "guests", "prompts", "callgate.schema.json"];

/** The packages of the repository, by the name of their folder. */
export const packageNames = readdirSync(join(repository, "packages")).filter((name) => existsSync(join(repository, "packages", name, "package.json")));

/**
 * @param staging folder that is made anew; packages lie in it by the name of their folder, and find each other
 * @param options.declarations false leaves out the .d.ts files, which take most of the time
 */
export async function buildPackages(staging, { declarations }) {
  rmSync(staging, { recursive: true, force: true });
  for (const name of packageNames) {
    const source = join(repository, "packages", name);
    const target = join(staging, name);
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "package.json"), JSON.stringify(publishedManifest(source), undefined, 2));
    for (const extra of shippedFolders) if (existsSync(join(source, extra))) cpSync(join(source, extra), join(target, extra), { recursive: true });
    cpSync(join(repository, "LICENSE"), join(target, "LICENSE"));
    await bundle(join(source, "src"), join(target, "dist"), startedFiles(source));
  }
  if (declarations) declare(staging);
  link(staging);
}

function manifestOf(source) {
  return JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
}

function publishedManifest(source) {
  const { publishConfig, devDependencies: _unused, ...manifest } = manifestOf(source);
  return { ...manifest, exports: publishConfig.exports, repository: undefined };
}

/** Files that something loads by name: the doors of the manifest, what a program in bin/ starts, and threads and processes, which code names by its own URL. */
function startedFiles(source) {
  const folder = join(source, "src");
  const doors = Object.values(manifestOf(source).exports).map((door) => relative("src", door));
  const ofBin = existsSync(join(source, "bin")) ? readdirSync(join(source, "bin")).flatMap((file) => namedIn(join(source, "bin", file), /new URL\("\.\.\/src\/([^"]+)"/g)) : [];
  const byUrl = globSync("**/*.ts", { cwd: folder, exclude: isOfTests }).flatMap((file) => namedIn(join(folder, file), /new URL\(`([^`$]+)\$\{import\.meta\.url\.endsWith/g).map((path) => posix.join(dirname(file), `${path.replace(/\.$/, "")}.ts`)));
  return [...new Set([...doors, ...ofBin, ...byUrl])];
}

function namedIn(file, pattern) {
  return [...readFileSync(file, "utf8").matchAll(pattern)].map(([, name]) => name);
}

/** Whether a path is of a test, or of a folder that only tests use. */
export function isOfTests(file) {
  return /\.test\.ts$|(?:^|\/)fixtures(?:\/|$)/.test(file);
}

async function bundle(source, target, files) {
  const build = await rolldown({
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(source, file)])),
    platform: "node",
    // What is CommonJS already stays a file of its own.
    external: (id) => id.endsWith(".cjs") || !(id.startsWith(".") || id.startsWith("/")),
    plugins: [keepOwnUrls(source)],
    logLevel: "warn",
  });
  await build.write({ dir: target, format: "esm", entryFileNames: "[name].js", chunkFileNames: "parts/[name]-[hash].js" });
  await build.close();
  for (const file of globSync("**/*.{cjs,d.cts}", { cwd: source })) cpSync(join(source, file), join(target, file));
}

/** In a bundle `import.meta.url` is the bundle's. Code that looks beside itself gets the URL it had as a file of its own. */
function keepOwnUrls(source) {
  const mark = "__callgate_url_of__";
  return {
    name: "keep-own-urls",
    transform: (code, id) => (code.includes("import.meta.url") ? { code: code.replaceAll("import.meta.url", `${mark}(${JSON.stringify(relative(source, id).replace(/\.ts$/, ".js"))})`) } : undefined),
    renderChunk: (code, chunk) => (code.includes(mark) ? { code: code.replaceAll(new RegExp(`${mark}\\("([^"]+)"\\)`, "g"), (_all, path) => `new URL(${JSON.stringify(beside(chunk.fileName, path))}, import.meta.url).href`) } : undefined),
  };
}

function beside(chunk, path) {
  const from = posix.relative(posix.dirname(chunk), path);
  return from.startsWith(".") ? from : `./${from}`;
}

/** The declarations of all packages in one pass of the compiler: most of its work is the same for each. */
function declare(staging) {
  const out = join(staging, "declarations");
  const config = {
    extends: join(repository, "tsconfig.json"),
    compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true, rewriteRelativeImportExtensions: true, rootDir: repository, outDir: out, customConditions: [], paths: {} },
    include: [join(repository, "packages/*/src/**/*.ts")],
    exclude: [join(repository, "packages/*/src/**/*.test.ts"), join(repository, "packages/*/src/**/fixtures/**")],
  };
  const file = join(staging, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", file], { stdio: "inherit" });
  for (const name of packageNames) {
    const made = join(out, "packages", name, "src");
    for (const path of globSync("**/*.d.ts", { cwd: made })) {
      mkdirSync(dirname(join(staging, name, "dist", path)), { recursive: true });
      renameSync(join(made, path), join(staging, name, "dist", path));
    }
  }
  rmSync(out, { recursive: true });
  rmSync(file);
}

/** Lets the staged packages find each other, not the sources that npm linked into node_modules. */
function link(staging) {
  for (const name of packageNames) {
    const source = join(repository, "packages", name);
    const place = join(staging, "node_modules", manifestOf(source).name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(relative(dirname(place), join(staging, name)), place, "dir");
    const second = join(source, "node_modules");
    if (existsSync(second)) symlinkSync(second, join(staging, name, "node_modules"), "dir");
  }
}

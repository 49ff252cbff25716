// Guards what a user would install. Each package is built into a staging folder with the manifest npm would publish
// (npm itself does not apply publishConfig.exports), judged by publint and attw, and its doors are loaded from there: a
// worker found by `new URL("./x.ts")` works from source, passes both judges and is missing in dist. Nothing is published.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const staging = resolve(".staging");
const names = readdirSync("packages").filter((name) => existsSync(join("packages", name, "package.json")));
const bin = (name) => resolve("node_modules/.bin", name);
let broken = 0;

rmSync(staging, { recursive: true, force: true });
for (const name of names) {
  const source = join("packages", name);
  const target = join(staging, name);
  mkdirSync(target, { recursive: true });
  build(source, target);
  writeFileSync(join(target, "package.json"), JSON.stringify(published(source), undefined, 2));
  for (const extra of ["README.md", "bin", "guests", "prompts", "callgate.schema.json"]) if (existsSync(join(source, extra))) cpSync(join(source, extra), join(target, extra), { recursive: true });
  cpSync("LICENSE", join(target, "LICENSE"));
}
link();
for (const name of names) await judge(name, join(staging, name));
console.log(`${names.length} packages, ${broken} with faults`);
process.exitCode = broken === 0 ? 0 : 1;

function build(source, target) {
  const config = {
    extends: resolve("tsconfig.json"),
    compilerOptions: { noEmit: false, declaration: true, noCheck: true, rewriteRelativeImportExtensions: true, rootDir: resolve(source, "src"), outDir: join(target, "dist"), customConditions: [], paths: {} },
    include: [resolve(source, "src/**/*.ts")],
    exclude: [resolve(source, "src/**/*.test.ts"), resolve(source, "src/**/fixtures/**")],
  };
  const file = join(target, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(bin("tsc"), ["-p", file], { stdio: "inherit" });
  rmSync(file);
  // The compiler takes what is CommonJS already for given, and leaves it where it is.
  for (const name of globSync("**/*.{cjs,d.cts}", { cwd: join(source, "src") })) cpSync(join(source, "src", name), join(target, "dist", name));
}

function published(source) {
  const { publishConfig, devDependencies: _unused, ...manifest } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  return { ...manifest, exports: publishConfig.exports, repository: undefined };
}

/** Lets the staged packages find each other, not the sources that npm linked into node_modules. */
function link() {
  for (const name of names) {
    const place = join(staging, "node_modules", JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8")).name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(staging, name), place, "dir");
    const second = resolve("packages", name, "node_modules");
    if (existsSync(second)) symlinkSync(second, join(staging, name, "node_modules"), "dir");
  }
}

function loads(target) {
  const { name, exports, peerDependencies } = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
  // The suites of testkit register tests when loaded, which only a test runner allows.
  if (peerDependencies?.vitest !== undefined) return [];
  return Object.keys(exports).flatMap((door) => {
    const program = `await import(${JSON.stringify(join(name, door))})`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: staging, encoding: "utf8" });
    return status === 0 ? [] : [`${program}: ${stderr.trim().split("\n").find((line) => line.includes("Error")) ?? stderr}`];
  });
}

/** Paths to sources that tsc does not rewrite. */
function lostPaths(target) {
  const files = readdirSync(join(target, "dist"), { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".js"));
  return files
    .filter((file) => /new URL\(\s*["'`][^"'`]*\.ts["'`]/.test(readFileSync(join(target, "dist", file), "utf8")))
    .map((file) => `dist/${file} looks for a .ts file, which is not published; take the ending from import.meta.url`);
}

async function judge(name, target) {
  const { messages, pkg } = await publint({ pkgDir: target, strict: true, pack: false });
  const faults = messages.filter((message) => message.type !== "suggestion").map((message) => formatMessage(message, pkg, { color: false }));
  try {
    execFileSync(bin("attw"), ["--pack", ".", "--profile", "esm-only", "--no-color", "--no-emoji", "--format", "ascii"], { cwd: target, encoding: "utf8", stdio: "pipe" });
  } catch (failure) {
    // One part a door, most of them fine.
    const parts = `${failure.stdout}`.split(/^\*+$/m).filter((part) => /^(node16|bundler).*: (?!OK|\(ignored\))/m.test(part));
    faults.push(`attw: ${parts.length > 0 ? parts.map((part) => part.trim()).join("\n") : `${failure.stdout}${failure.stderr}`}`);
  }
  faults.push(...lostPaths(target), ...loads(target));
  if (faults.length > 0) broken++;
  for (const fault of faults) console.error(`${name}: ${fault}`);
}

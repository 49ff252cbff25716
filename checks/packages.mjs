// Guards what a user would install. Each package is built into a staging folder with the manifest npm would publish
// (npm itself does not apply publishConfig.exports), then judged by publint and attw. Nothing is published.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const staging = resolve(".staging");
const bin = (name) => resolve("node_modules/.bin", name);
let broken = 0;

rmSync(staging, { recursive: true, force: true });
for (const name of readdirSync("packages")) {
  const source = join("packages", name);
  const target = join(staging, name);
  mkdirSync(target, { recursive: true });
  build(source, target);
  writeFileSync(join(target, "package.json"), JSON.stringify(published(source), undefined, 2));
  for (const extra of ["README.md", "bin", "callgate.schema.json"]) if (existsSync(join(source, extra))) cpSync(join(source, extra), join(target, extra), { recursive: true });
  cpSync("LICENSE", join(target, "LICENSE"));
  await judge(name, target);
}
console.log(`${readdirSync("packages").length} packages, ${broken} with faults`);
process.exitCode = broken === 0 ? 0 : 1;

function build(source, target) {
  const config = {
    extends: resolve("tsconfig.json"),
    compilerOptions: { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, rootDir: resolve(source, "src"), outDir: join(target, "dist"), customConditions: [], paths: {} },
    include: [resolve(source, "src/**/*.ts")],
    exclude: [resolve(source, "src/**/*.test.ts"), resolve(source, "src/**/fixtures/**")],
  };
  const file = join(target, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(bin("tsc"), ["-p", file], { stdio: "inherit" });
  rmSync(file);
}

function published(source) {
  const { publishConfig, devDependencies: _unused, ...manifest } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  return { ...manifest, exports: publishConfig.exports, repository: undefined };
}

async function judge(name, target) {
  const { messages, pkg } = await publint({ pkgDir: target, strict: true, pack: false });
  const faults = messages.filter((message) => message.type !== "suggestion").map((message) => formatMessage(message, pkg, { color: false }));
  try {
    execFileSync(bin("attw"), ["--pack", ".", "--profile", "esm-only", "--no-color", "--quiet", "--ignore-rules", "no-resolution"], { cwd: target, encoding: "utf8", stdio: "pipe" });
  } catch (failure) {
    faults.push(`attw: ${failure.stdout}${failure.stderr}`);
  }
  if (faults.length > 0) broken++;
  for (const fault of faults) console.error(`${name}: ${fault}`);
}

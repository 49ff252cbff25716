// Guards what a user would install. Each package is built into a staging folder, judged by publint and attw, and its doors
// are loaded from there: a worker that is found from source and passes both judges may be missing in dist.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { checkPackage, Package } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { buildPackages, packageNames } from "./build-packages.mjs";

const staging = resolve(".staging");
/** Packages are modules only; how what is CommonJS would see them is no fault of theirs. */
const ignoredResolutions = new Set(["node10", "node16-cjs"]);
let broken = 0;

await buildPackages(staging, { declarations: true });
for (const name of packageNames) await judge(name, join(staging, name));
console.log(`${packageNames.length} packages, ${broken} with faults`);
process.exitCode = broken === 0 ? 0 : 1;

/** One process loads every door, as a user's program would. */
function loads(target) {
  const { name, exports, peerDependencies } = manifest(target);
  // The suites of testkit register tests when loaded, which only a test runner allows.
  if (peerDependencies?.vitest !== undefined) return [];
  const doors = Object.keys(exports).map((door) => posix.join(name, door));
  const program = `for (const door of ${JSON.stringify(doors)}) await import(door).catch((fault) => { console.error(\`import of \${door}: \${fault}\`); process.exitCode = 1; })`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: staging, encoding: "utf8" });
  return status === 0 ? [] : [stderr.trim()];
}

async function judge(name, target) {
  const { messages, pkg } = await publint({ pkgDir: target, strict: true, pack: false });
  const faults = messages.filter((message) => message.type !== "suggestion").map((message) => formatMessage(message, pkg, { color: false }));
  faults.push(...(await wrongTypes(target)), ...missingFiles(target), ...loads(target));
  if (faults.length > 0) broken++;
  for (const fault of faults) console.error(`${name}: ${fault}`);
}

async function wrongTypes(target) {
  const { name, version } = manifest(target);
  const files = globSync("**/*.{json,js,mjs,cjs,ts,cts}", { cwd: target, exclude: ["node_modules"] }).map((file) => [`/node_modules/${name}/${file}`, readFileSync(join(target, file), "utf8")]);
  const { types, problems } = await checkPackage(new Package(Object.fromEntries(files), name, version));
  if (types === false) return ["attw: it has no types"];
  return problems.filter(({ resolutionKind }) => !ignoredResolutions.has(resolutionKind)).map((problem) => `attw: ${JSON.stringify(problem)}`);
}

/** What code looks for beside itself (guests, prompts): from source it is found there, and a package may not have it. */
function missingFiles(target) {
  return globSync("dist/**/*.js", { cwd: target }).flatMap((file) => {
    const places = readFileSync(join(target, file), "utf8").matchAll(/new URL\("([^"]+)", new URL\("([^"]+)", import\.meta\.url\)\.href\)/g);
    return [...places].flatMap(([, path, from]) => (existsSync(resolve(target, dirname(file), dirname(from), path)) ? [] : [`dist/${file} looks for ${path}, which is not published`]));
  });
}

function manifest(target) {
  return JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
}

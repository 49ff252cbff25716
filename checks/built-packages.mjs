// Prints the folder with the packages as they would be published, without declarations: built when the sources have changed
// since. Tests of the command line start that one: it is what users start, and three times as quick as the sources are.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildPackages, isOfTests } from "./build-packages.mjs";

const repository = resolve(import.meta.dirname, "..");
const builds = join(repository, "node_modules/.cache/callgate-packages");
const keptMs = 3_600_000;

const built = join(builds, fingerprint());
if (!existsSync(built)) {
  mkdirSync(builds, { recursive: true });
  forgetOld();
  const begun = `${built}-${process.pid}`;
  await buildPackages(begun, { declarations: false });
  place(begun, built);
}
console.log(built);

/** Of every file that a package is made of: its name, size and time of change. Tests are no part of it. */
function fingerprint() {
  const hash = createHash("sha256");
  const files = globSync(["packages/*/package.json", "packages/*/{src,bin,guests,prompts}/**", "checks/build-packages.mjs"], { cwd: repository, exclude: isOfTests }).sort();
  for (const file of files) {
    const { mtimeMs, size } = statSync(join(repository, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Two processes may build the same at once; the first one's is taken. */
function place(begun, built) {
  try {
    renameSync(begun, built);
  } catch (fault) {
    if (!existsSync(built)) throw fault;
    rmSync(begun, { recursive: true, force: true });
  }
}

/** A build that something may still be running from is kept. */
function forgetOld() {
  for (const name of readdirSync(builds)) if (Date.now() - statSync(join(builds, name)).mtimeMs > keptMs) rmSync(join(builds, name), { recursive: true, force: true });
}

// A wall that silently stopped holding looks the same as a clean tree. So: a tree with one fault of each kind, and the
// exact list of what has to be said about it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const manifest = (name: string, dependencies: Record<string, string> = {}) => JSON.stringify({ name, version: "0.1.0", type: "module", exports: { ".": "./src/index.ts" }, dependencies });
const runtime = "packages/runtime/src";

/** A small tree without a fault: every module the faults below need, and one hoisted package whose entry is in dist/. */
const clean: Record<string, string> = {
  "tsconfig.json": JSON.stringify({ compilerOptions: { module: "nodenext", allowImportingTsExtensions: true, noEmit: true } }),
  "package.json": JSON.stringify({ name: "tree", private: true, type: "module", workspaces: ["packages/*"] }),
  "node_modules/hoisted/package.json": JSON.stringify({ name: "hoisted", version: "1.0.0", type: "module", exports: "./dist/index.js" }),
  "node_modules/hoisted/dist/index.js": "export const hoisted = 1;",
  "packages/contract/package.json": manifest("@callgate/contract"),
  "packages/contract/src/index.ts": "export const shape = 1;",
  "packages/runtime/package.json": manifest("@callgate/runtime", { hoisted: "1.0.0" }),
  [`${runtime}/index.ts`]: 'export { broker } from "./broker/broker.ts";',
  [`${runtime}/broker/broker.ts`]: 'import { hoisted } from "hoisted";\nexport const broker = hoisted;\nexport interface Broker { kind: 1 }',
  [`${runtime}/lib/race.test.ts`]: 'import { broker } from "../broker/broker.ts";\nexport const probe = broker;',
  "packages/callgate/package.json": manifest("callgate"),
  "packages/callgate/src/index.ts": 'import { broker } from "../../runtime/src/index.ts";\nexport const gate = broker;',
  "packages/source-mcp/package.json": manifest("@callgate/source-mcp"),
  "packages/source-mcp/src/index.ts": "export const source = 1;",
};

const faults: readonly { file: string; text: string; said: string }[] = [
  { file: `${runtime}/policy/value.ts`, text: 'import { broker } from "../broker/broker.ts";\nexport const a = broker;', said: "runtime/policy imports what it may not" },
  { file: `${runtime}/policy/type.ts`, text: 'import type { Broker } from "../broker/broker.ts";\nexport type A = Broker;', said: "runtime/policy imports what it may not" },
  { file: `${runtime}/policy/inline.ts`, text: 'export type A = import("../broker/broker.ts").Broker;', said: "runtime/policy imports what it may not" },
  { file: `${runtime}/policy/lazy.ts`, text: 'export const a = () => import("../broker/broker.ts");', said: "runtime/policy imports what it may not" },
  { file: `${runtime}/policy/files.ts`, text: 'import { readFileSync } from "node:fs";\nexport const a = readFileSync;', said: "runtime/policy touches the outside" },
  { file: "packages/contract/src/files.ts", text: 'import type { Stats } from "node:fs";\nexport type A = Stats;', said: "contract touches the outside" },
  { file: `${runtime}/lib/inside.ts`, text: 'import { broker } from "../index.ts";\nexport const a = broker;', said: "runtime/lib imports what it may not" },
  { file: "packages/callgate/src/past-door.ts", text: 'import { broker } from "../../runtime/src/broker/broker.ts";\nexport const a = broker;', said: "callgate imports what it may not" },
  { file: `${runtime}/doorway.ts`, text: 'import { source } from "../../source-mcp/src/index.ts";\nexport const a = source;', said: "a runtime door imports past the runtime" },
  { file: "packages/source-mcp/src/sibling.ts", text: 'import { broker } from "../../runtime/src/index.ts";\nexport const a = broker;', said: "source-mcp imports what it may not" },
  { file: "packages/source-mcp/src/hoisted.ts", text: 'import { hoisted } from "hoisted";\nexport const a = hoisted;', said: "undeclared package" },
  { file: `${runtime}/lib/gone.ts`, text: 'import { gone } from "./nowhere.ts";\nexport const a = gone;', said: "import of something that is not there" },
  { file: `${runtime}/lib/gone-package.ts`, text: 'import { gone } from "@nobody/nothing";\nexport const a = gone;', said: "import of something that is not there" },
  { file: `${runtime}/lib/of-test.ts`, text: 'import { probe } from "./race.test.ts";\nexport const a = probe;', said: "import of a test" },
  { file: `${runtime}/lib/ring.ts`, text: 'import type { Other } from "./ring-other.ts";\nexport type Ring = Other;', said: "" },
  { file: `${runtime}/lib/ring-other.ts`, text: 'import type { Ring } from "./ring.ts";\nexport type Other = Ring;', said: "cycle" },
  { file: `${runtime}/mystery/mystery.ts`, text: "export const a = 1;", said: "no row in checks/module-map.mjs" },
  { file: `${runtime}/lib/star.ts`, text: 'export * from "./of-test.ts";', said: "export *" },
];

function walls(files: Readonly<Record<string, string>>) {
  const tree = mkdtempSync(join(tmpdir(), "callgate-walls-"));
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve("checks/walls.mjs")], { cwd: tree, encoding: "utf8" });
  return { status, stdout, said: stderr.split("\n").filter((line) => line !== "") };
}

test("walls passes a tree without a fault", () => {
  expect(walls(clean)).toMatchObject({ status: 0, said: [] });
});

test("walls names each fault once", () => {
  const { status, said } = walls({ ...clean, ...Object.fromEntries(faults.map(({ file, text }) => [file, text])) });
  expect(status).toBe(1);
  const expected = faults.filter((fault) => fault.said !== "").map((fault) => `${fault.said}: ${fault.file}`);
  // A cycle is named at one of its files. The text after the file differs by kind (a path, a ring of paths, a reason).
  expect(said.map((line) => line.replace(/ (→|\().*$/, "")).sort()).toEqual(expected.sort());
});

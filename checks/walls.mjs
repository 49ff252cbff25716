// Guards the direction of imports. Each row of checks/module-map.mjs becomes one rule of dependency-cruiser: from the
// module's folder to anything of ours that is neither itself nor listed. Also no cycles, no undeclared packages, no
// imports of tests or of nothing, no folder outside the map, no `export *`. Without it, "the sandbox knows no broker"
// would be a sentence in a document.
import { readFileSync } from "node:fs";
import { cruise } from "dependency-cruiser";
import { modules, runtimeDoors } from "./module-map.mjs";

const tests = "\\.(test|bench)\\.ts$|/fixtures/";
const doors = `^${runtimeDoors.path}/[^/]+\\.ts$`;
/** Not packages/x/node_modules, where npm puts a second version of a package. */
const ours = "^packages/[^/]+/(?!node_modules/)";
const escape = (text) => text.replace(/[.]/g, "\\.");
const target = (name) => (name === "runtime doors" ? doors : `^${escape(modules[name].path)}/`);
/** From outside, a package is seen through its door only. */
const seen = (name, from) => (name === "runtime doors" || name.startsWith("runtime/") || from.startsWith(`${name}/`) ? target(name) : `^${escape(modules[name].path)}/index\\.ts$`);

const rules = Object.entries(modules).map(([name, module]) => ({
  name: `${name} imports what it may not`,
  severity: "error",
  from: { path: `^${escape(module.path)}/`, pathNot: tests },
  to: { path: ours, pathNot: [`^${escape(module.path)}/`, ...module.imports.map((other) => seen(other, name))] },
}));
const pure = Object.entries(modules)
  .filter(([, module]) => module.io === false)
  .map(([name, module]) => ({
    name: `${name} touches the outside`,
    severity: "error",
    from: { path: `^${escape(module.path)}/`, pathNot: tests },
    to: { dependencyTypes: ["core"] },
  }));

const forbidden = [
  ...rules,
  ...pure,
  { name: "a runtime door imports past the runtime", severity: "error", from: { path: doors, pathNot: tests }, to: { path: ours, pathNot: runtimeDoors.imports.map((name) => (name === "contract" ? seen(name, "") : target(name))) } },
  { name: "cycle", severity: "error", from: {}, to: { circular: true } },
  { name: "undeclared package", severity: "error", from: { path: "^packages/[^/]+/src/", pathNot: tests }, to: { path: "node_modules", dependencyTypes: ["npm-no-pkg", "npm-unknown"] } },
  // A peer is a development dependency too: tests have it, and users install it.
  { name: "a development dependency in shipped code", severity: "error", from: { path: "^packages/(?!testkit)[^/]+/src/", pathNot: tests }, to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm", "npm-peer", "type-only"] } },
  { name: "import of something that is not there", severity: "error", from: { path: "^packages/" }, to: { couldNotResolve: true } },
  { name: "import of a test", severity: "error", from: { pathNot: tests }, to: { path: "\\.test\\.ts$" } },
];

const result = await cruise(["packages"], {
  ruleSet: { forbidden },
  validate: true,
  tsPreCompilationDeps: true,
  combinedDependencies: false,
  // Only our own build output: npm packages have a dist/ too, and leaving those out would hide undeclared ones.
  exclude: { path: "^packages/[^/]+/(dist|bin)/" },
  doNotFollow: { path: "node_modules" },
  tsConfig: { fileName: "tsconfig.json" },
  enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
});
const { violations } = result.output.summary;
for (const violation of violations) {
  const path = violation.cycle === undefined ? violation.to : violation.cycle.map((step) => step.name ?? step).join(" → ");
  console.error(`${violation.rule.name}: ${violation.from} → ${path}`);
}

const sources = result.output.modules.map(({ source }) => source).filter((source) => /^packages\/[^/]+\/src\/.*\.ts$/.test(source) && !new RegExp(tests).test(source));
const rows = Object.values(modules).map(({ path }) => `${path}/`);
const unmapped = sources.filter((source) => !rows.some((row) => source.startsWith(row)) && !new RegExp(doors).test(source));
for (const source of unmapped) console.error(`no row in checks/module-map.mjs: ${source} (a module without a row would have no walls)`);
const starred = sources.filter((source) => /^export (type )?\*/m.test(readFileSync(source, "utf8")));
for (const source of starred) console.error(`export *: ${source} (a door names what it shows, so that a change of it is seen)`);

const broken = violations.length + unmapped.length + starred.length;
console.log(`${sources.length} files, ${broken} broken walls`);
process.exitCode = broken === 0 ? 0 : 1;

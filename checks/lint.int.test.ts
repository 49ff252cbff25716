// A rule that is spelled wrong, or needs types it does not get, is silent. So: one file with a fault for each rule of
// .oxlintrc.json that we chose, linted with that very configuration.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const lines = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index)).join("\n");
const sleep = "async function sleep(): Promise<void> {}\n";
const longFunction = `export function f(): number {\n  let a = 0;\n${lines(62, (index) => `  a += ${index};`)}\n  return a;\n}\n`;

const faults: readonly { file: string; text: string; rule: string }[] = [
  { file: "floating.ts", text: `${sleep}export function f(): void {\n  sleep();\n}\n`, rule: "no-floating-promises" },
  { file: "floating-void.ts", text: `${sleep}export function f(): void {\n  void sleep();\n}\n`, rule: "no-floating-promises" },
  { file: "misused.ts", text: "export function f(): void {\n  [1].forEach(async () => {\n    await Promise.resolve();\n  });\n}\n", rule: "no-misused-promises" },
  { file: "await-value.ts", text: "export async function f(value: number): Promise<number> {\n  return await value;\n}\n", rule: "await-thenable" },
  { file: "any.ts", text: "export const a = (x: any): unknown => x;\n", rule: "no-explicit-any" },
  { file: "non-null.ts", text: "export const a = (x: string | undefined): string => x!;\n", rule: "no-non-null-assertion" },
  { file: "silenced.ts", text: '// @ts-ignore\nexport const a: number = "x";\n', rule: "ban-ts-comment" },
  { file: "open-switch.ts", text: 'export function f(x: "a" | "b"): number {\n  switch (x) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n', rule: "switch-exhaustiveness-check" },
  { file: "type-import.ts", text: 'import { Shape } from "./shape.ts";\nexport type A = Shape;\n', rule: "consistent-type-imports" },
  { file: "thrown-text.ts", text: 'export function f(): never {\n  throw "x";\n}\n', rule: "only-throw-error" },
  { file: "default-export.ts", text: "export default 1;\n", rule: "no-default-export" },
  { file: "Long_Name.ts", text: "export const a = 1;\n", rule: "filename-case" },
  { file: "equals.ts", text: "export const a = (x: unknown): boolean => x == 1;\n", rule: "eqeqeq" },
  { file: "console.ts", text: 'export const a = (): void => console.log("x");\n', rule: "no-console" },
  { file: "var.ts", text: "export var a = 1;\n", rule: "no-var" },
  { file: "let.ts", text: "let a = 1;\nexport const b = a;\n", rule: "prefer-const" },
  { file: "long-file.ts", text: lines(401, (index) => `export const a${index} = ${index};`), rule: "max-lines" },
  { file: "long-function.ts", text: longFunction, rule: "max-lines-per-function" },
  { file: "parameters.ts", text: "export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;\n", rule: "max-params" },
];

const allowed: Readonly<Record<string, string>> = {
  "shape.ts": "export interface Shape {\n  a: 1;\n}\n",
  "long.test.ts": longFunction,
  "vitest.config.ts": "export default 1;\n",
};

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

test("lint finds the fault of each rule, and nothing where a rule does not hold", () => {
  const tree = mkdtempSync(join(tmpdir(), "callgate-lint-"));
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }));
  const files = { ...allowed, ...Object.fromEntries(faults.map(({ file, text }) => [file, text])) };
  writeFileSync(join(tree, "tsconfig.json"), JSON.stringify({ compilerOptions: { strict: true, module: "nodenext", target: "es2024", allowImportingTsExtensions: true, noEmit: true, types: [] } }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  const { status, stdout } = spawnSync(resolve("node_modules/.bin/oxlint"), ["--type-aware", "--format=json", "-c", resolve(".oxlintrc.json"), "."], { cwd: tree, encoding: "utf8" });
  expect(status).toBe(1);
  const { diagnostics }: Report = JSON.parse(stdout);
  const found = diagnostics.map(({ code, filename }) => `${filename.split("/").at(-1) ?? ""}: ${code.replace(/^.*\(|\)$/g, "")}`);
  expect(found).toEqual(expect.arrayContaining(faults.map(({ file, rule }) => `${file}: ${rule}`)));
  expect(found.filter((line) => Object.keys(allowed).some((file) => line.startsWith(`${file}:`)))).toEqual([]);
});

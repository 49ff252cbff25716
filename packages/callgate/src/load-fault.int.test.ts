import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-load-")));
afterAll(() => rmSync(folder, { recursive: true }));

/** In a process of its own: the loader of the test runner is another than Node's. */
const script = `
import { pathToFileURL } from "node:url";
const { loadFault } = await import(process.argv[1]);
const cause = await import(pathToFileURL(process.argv[2]).href).then(() => undefined, (error) => error);
console.log(JSON.stringify(await loadFault(process.argv[2], cause)));`;

function faultOf(name: string, text: string): unknown {
  const file = join(folder, name);
  writeFileSync(file, text);
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script, fileURLToPath(new URL("load-fault.ts", import.meta.url)), file], { encoding: "utf8" }));
}

test.each([
  ["wrong.ts", 'export const a = 1;\n\nexport const b = f({ description "x" });\n', ":3:34", "Unexpected token"],
  ["enum.ts", "export const a = 1;\n  enum X { A }\n", ":2:3", "enum is not supported"],
  ["wrong.mjs", "export const a = 1;\n\nexport const b = (;\n", ":3:19", "Unexpected token ';'"],
  ["throws.mjs", "export const a = 1;\nexport const b = missing.c;\n", ":2:18", "missing is not defined"],
  ["throws.ts", "export const a: number = 1;\nfunction f() {\n  throw new Error('no');\n}\nf();\n", ":3:9", "no"],
])("says where %s is wrong", { timeout: 60_000 }, (name, text, where, message) => {
  expect(faultOf(name, text)).toEqual({ where, message: expect.stringContaining(message) });
});

test("says which file, where it is one that is imported", { timeout: 60_000 }, () => {
  faultOf("part.ts", "export const y = (;\n");
  expect(faultOf("whole.ts", 'import "./part.ts";\n')).toEqual({ where: ` (in ${join(folder, "part.ts")}:1:19)`, message: expect.any(String) });
});

test("says what is thrown where there is no place", { timeout: 60_000 }, () => {
  expect(faultOf("text.mjs", "throw 'a text';\n")).toEqual({ where: "", message: "a text" });
  expect(faultOf("missing.mjs", 'import "./not-there.mjs";\n')).toEqual({ where: "", message: expect.stringContaining("Cannot find module") });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadSuite } from "./load-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-suite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const cases = 'cases:\n  - { id: a, kind: timeout, task: Go, calls: [{ tool: t.x }] }\n';

test("a suite of YAML has the environment of the module that it names, beside it", async () => {
  written("world.ts", 'import { defineEnvironment } from "callgate/eval";\nexport const environment = defineEnvironment(() => { throw new Error("not now"); });');
  const suite = await loadSuite(written("suite.yaml", `name: s\nenvironment: ./world.ts\n${cases}`));
  expect(suite).toMatchObject({ name: "s", cases: [{ id: "a" }] });
  expect(() => suite.environment({} as never)).toThrow("not now");
});

test("a module exports a suite, or a function that makes one", async () => {
  expect((await loadSuite(written("one.ts", 'export const suite = { name: "one", environment: () => undefined, cases: [] };'))).name).toBe("one");
  expect((await loadSuite(written("two.ts", 'export async function suite(): Promise<object> { return { name: "two", environment: () => undefined, cases: [] }; }'))).name).toBe("two");
});

test("what is none is told by its file, and a fault in a module by its place", async () => {
  await expect(loadSuite(written("none.ts", "export const suite = { name: 5 };"))).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("none.ts exports no suite") as string });
  written("empty.ts", "export const other = 1;");
  await expect(loadSuite(written("bad.yaml", `name: s\nenvironment: ./empty.ts\n${cases}`))).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("empty.ts exports no environment") as string });
  written("broken.ts", "export const a = 1;\nthrow new Error('broken here');\n");
  await expect(loadSuite(written("worse.yaml", `name: s\nenvironment: ./broken.ts\n${cases}`))).rejects.toMatchObject({ code: "USAGE", message: expect.stringMatching(/broken\.ts:2:\d+ cannot be loaded: broken here/) as string });
});

import { existsSync, globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createDeclarationCompiler, judgeDocuments } from "./fixtures/judge-document.ts";

// All that there are, with the largest and with both spellings, are judged by checks/full/openapi.mjs.
const examples = dirname(createRequire(import.meta.url).resolve("@readme/oas-examples/package.json"));
const shared = fileURLToPath(new URL("../../../../shared/data/openapi/", import.meta.url));

/** Judges documents, and has the declarations of all of them compiled at once. */
async function judgeAll(files: readonly string[]): Promise<void> {
  const judged = await judgeDocuments(files);
  for (const one of judged) expect(one).toMatchObject({ file: one.file, tools: one.operations, registered: one.operations, badNames: [] });
  expect(createDeclarationCompiler().errors(judged.map(({ declarations }) => declarations).join("\n"))).toEqual([]);
}

describe("all operations become tools with names of their own, whose declarations compile:", () => {
  test("small documents of every version and feature", { timeout: 120_000 }, async () => {
    const files = globSync(["{2.0,3.0,3.1}/json/*.json", "3.0/yaml/p*.yaml"], { cwd: examples }).toSorted();
    expect(files.length).toBeGreaterThan(40);
    await judgeAll(files.map((file) => join(examples, file)));
  });

  test.skipIf(!existsSync(shared))("real documents (../shared/data/openapi; skipped where it is not)", { timeout: 120_000 }, async () => {
    await judgeAll(["guru-googleapis.com-gmail.json", "guru-amazonaws.com-s3.json"].map((file) => join(shared, file)));
  });
});

import { describe, expect, test } from "vitest";
import { extractProgram } from "./extract.ts";

describe("extractProgram", () => {
  test("takes a text without a fence as it is", () => {
    expect(extractProgram("return 1;", "typescript")).toMatchObject({ kind: "program", text: "return 1;", firstLine: 1, fenceLine: undefined });
  });

  test("cuts a byte order mark off", () => {
    expect(extractProgram("\uFEFFreturn 1;", "typescript")).toMatchObject({ text: "return 1;", cutColumns: [1] });
  });

  test("takes the program out of its fence and the prose around it", () => {
    const text = "Sure, here it is:\n\n```ts\nconst a = 1;\nreturn a;\n```\n\nIt returns one.";
    expect(extractProgram(text, "typescript")).toMatchObject({ text: "const a = 1;\nreturn a;", firstLine: 4, fenceLine: 3, unclosed: false });
  });

  test("knows how far a fence in a list was indented", () => {
    expect(extractProgram("1. Run this:\n\n   ```js\n   return 1;\n     // more\n   ```\n", "typescript")).toMatchObject({ text: "return 1;\n  // more", firstLine: 4, cutColumns: [3, 3] });
  });

  test("leaves fences of other languages out", () => {
    expect(extractProgram("```json\n{}\n```\n\n```typescript\nreturn 2;\n```", "typescript")).toMatchObject({ text: "return 2;", firstLine: 6 });
    expect(extractProgram("```python\nreturn_value = 1\n```\n\n```\nreturn 3;\n```", "typescript")).toMatchObject({ text: "return 3;" });
  });

  test("refuses to choose between two programs, and names both", () => {
    expect(extractProgram("```ts\nreturn 1;\n```\nor\n```ts\nreturn 2;\n```", "typescript")).toMatchObject({ kind: "refused", diagnostic: { code: "SEVERAL_PROGRAMS", line: 5, message: expect.stringContaining("lines 1, 5") } });
  });

  test("leaves backticks inside a program alone", () => {
    const text = "const md = [\"```js\",\n\"```\"].join();\nconst more = `\n\\`\\`\\`\n`;\nconst lines = [\n  md,\n];\nreturn lines;\n/*\n```\n*/";
    expect(extractProgram(text, "typescript")).toMatchObject({ text, fenceLine: undefined });
  });

  test("says that a fence was never closed", () => {
    expect(extractProgram("```ts\nreturn {", "typescript")).toMatchObject({ text: "return {", unclosed: true });
  });

  test("keeps characters that Markdown would change", () => {
    expect(extractProgram("```ts\nreturn \"a\0b\";\n```", "typescript")).toMatchObject({ text: 'return "a\0b";' });
  });

  test("stays linear on hostile Markdown", () => {
    const started = performance.now();
    extractProgram(`${"> ".repeat(20_000)}\n\`\`\`ts\n${"[".repeat(50_000)}\n${"*_".repeat(20_000)}`, "typescript");
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

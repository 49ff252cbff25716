import type { Diagnostic, Handle, RunError } from "@callgate/contract";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runReport } from "./report.ts";
import { minBudgetTokens, shapeRun } from "./shape-run.ts";
import type { RunDraft, ShapeRequest } from "./shape-run.ts";
import { createLazyTokenCounter } from "./token-counter.ts";
import type { TokenCounter } from "./token-counter.ts";

const empty: RunDraft = { runId: "run_1m8kzybzydkt9fdqc8dyvqjj", status: "completed", text: [], console: [], consoleDroppedBytes: 0, diagnostics: [], repairs: [], calls: [], artifacts: [], notices: [], durationMs: 1 };
const handle: Handle = "result://run_1m8kzybzydkt9fdqc8dyvqjj/1";

describe("shapeRun", () => {
  let counter: TokenCounter;
  beforeAll(async () => {
    counter = await createLazyTokenCounter().load();
  });

  function shape(draft: RunDraft, more: Partial<ShapeRequest> = {}) {
    const kept: string[] = [];
    const { resultTokens, ...result } = shapeRun({
      draft,
      budgetTokens: 2_000,
      counter,
      keep: (label) => {
        kept.push(label);
        return `result://run_1m8kzybzydkt9fdqc8dyvqjj/${kept.length + 1}`;
      },
      ...more,
    });
    const report = runReport({ ...result, tokens: { result: resultTokens, program: 0, direct: 0 } });
    return { result, report, resultTokens, kept };
  }

  const rows = (count: number): unknown[] => Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}`, score: id % 7 === 0 ? null : id / 4, at: new Date(id * 1e9) }));

  test("leaves everything whole where it fits, and counts what a model reads", () => {
    const { result, report, resultTokens, kept } = shape({ ...empty, text: ["hello"], console: [{ level: "warn", text: "careful" }] }, { value: { value: { a: 1 }, handle } });
    expect(result.value).toEqual({ kind: "whole", value: { a: 1 }, handle });
    expect(report).toBe('status: completed\nvalue:\n{"a":1}\ntext:\nhello\nconsole:\n[warn] careful\nrun: run_1m8kzybzydkt9fdqc8dyvqjj');
    expect(resultTokens).toBe(counter.count(report));
    expect(kept).toEqual([]);
  });

  test("keeps real values: a Date stays one", () => {
    const { result } = shape(empty, { value: { value: { at: new Date(0), m: new Map([[1, 2]]) }, handle } });
    expect(result.value).toMatchObject({ kind: "whole", value: { at: new Date(0), m: new Map([[1, 2]]) } });
  });

  test("gives an outline and a handle for a value over the budget", () => {
    const { result, resultTokens } = shape(empty, { value: { value: rows(5_000), handle }, budgetTokens: 500 });
    expect(result.value).toMatchObject({
      kind: "outline",
      handle,
      outline: { type: "array", length: 5_000, columns: { id: { type: "integer", min: 0, max: 4_999 }, name: { type: "string" }, score: { type: "number", nulls: 715, min: 0.25, max: 1_249.75 }, at: { type: "date", min: "1970-01-01T00:00:00.000Z" } } },
    });
    expect(resultTokens).toBeGreaterThan(250);
    expect(resultTokens).toBeLessThanOrEqual(500);
  });

  test("keeps text and console whole under handles when they are cut, and shows start and end", () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    const { result, report, kept } = shape({ ...empty, text: lines, console: lines.map((text) => ({ level: "log", text })) });
    expect(kept.sort()).toEqual(["console", "text"]);
    expect(result.text[0]).toContain("line 0");
    expect(result.text.at(-1)).toContain("line 2999");
    expect(result.console.at(-1)).toEqual({ level: "log", text: "line 2999" });
    expect(report).toMatch(/characters left out, whole: result:\/\/run_/);
    expect(report).toMatch(/entries left out, whole: result:\/\/run_/);
  });

  test("of many notices the first and the last ones are there, and how many are not", () => {
    const { result } = shape({ ...empty, notices: [...Array.from({ length: 300 }, (_, index) => `t.put had already taken place as call run_x.${index}`), "Plan pln_1: 300 of 300 writes done"] }, { budgetTokens: 400 });
    expect([result.notices[0], result.notices.at(-1)]).toEqual(["t.put had already taken place as call run_x.0", "Plan pln_1: 300 of 300 writes done"]);
    expect(result.notices).toContain(`… ${301 - (result.notices.length - 1)} notices left out …`);
  });

  test("an error keeps its code and place whatever its length", () => {
    const error: RunError = { code: "TOOL_FAILED", message: "x ".repeat(20_000), retryable: true, line: 3, column: 7, excerpt: "return x", tool: "t.x", details: { big: "y".repeat(9_000) } };
    const { result, resultTokens } = shape({ ...empty, status: "failed", error, effects: { done: ["t.write (call 0)"], unknown: [], none: [] } }, { budgetTokens: 300 });
    expect(result.error).toMatchObject({ code: "TOOL_FAILED", line: 3, column: 7, retryable: true });
    expect(result.effects?.done).toEqual(["t.write (call 0)"]);
    expect(resultTokens).toBeLessThanOrEqual(300);
  });

  test("what happened to the world outranks everything else", () => {
    const noise = Array.from({ length: 500 }, (_, index) => `noise ${index} `.repeat(10));
    const { result } = shape({ ...empty, status: "failed", text: noise, notices: noise, console: noise.map((text) => ({ level: "log", text })), error: { code: "X", message: "m ".repeat(3_000), retryable: false }, effects: { done: [], unknown: ["bank.pay (call 7, timed_out)"], none: [] } }, { budgetTokens: 400 });
    expect(result.effects?.unknown).toEqual(["bank.pay (call 7, timed_out)"]);
  });

  const word = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: "binary", maxLength: 200 }), fc.constantFrom("<|endoftext|>", "漢字仮名".repeat(40), "a".repeat(3_000), " ".repeat(2_000), "👩‍👩‍👧‍👦".repeat(50), "\ud800", "\n\n\n"));
  const longText = fc.tuple(word, fc.integer({ min: 1, max: 3_000 })).map(([text, times]) => text.repeat(Math.ceil(times / Math.max(1, text.length))));
  const texts = (max: number): fc.Arbitrary<string[]> => fc.array(longText, { maxLength: max });
  const anyValue = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true, maxDepth: 4 }),
    fc.integer({ min: 1, max: 3_000 }).map(rows),
    texts(50),
    longText,
    fc.dictionary(longText, longText, { maxKeys: 80 }),
  );
  const diagnostic: fc.Arbitrary<Diagnostic> = fc.record({ severity: fc.constantFrom("error", "warning", "advice"), code: fc.constantFrom("TS2339", "X".repeat(300)), message: longText, line: fc.nat(999), column: fc.nat(99), excerpt: longText, declaration: longText });

  test("is never over the budget, on any combination of channels, and counts exactly", () => {
    fc.assert(
      fc.property(
        fc.record({
          value: fc.option(anyValue, { nil: undefined }),
          text: texts(20),
          printed: texts(60),
          notices: texts(8),
          diagnostics: fc.array(diagnostic, { maxLength: 12 }),
          done: texts(30),
          error: fc.option(fc.record({ code: fc.constantFrom("X", "Y".repeat(400)), message: longText, retryable: fc.boolean(), tool: longText, path: longText, excerpt: longText, details: fc.dictionary(fc.string(), longText, { maxKeys: 4 }) }), { nil: undefined }),
          artifacts: fc.array(longText, { maxLength: 6 }),
          budgetTokens: fc.integer({ min: minBudgetTokens, max: 3_000 }),
        }),
        ({ value, text, printed, notices, diagnostics, done, error, artifacts, budgetTokens }) => {
          const draft: RunDraft = {
            ...empty,
            status: error === undefined ? "completed" : "failed",
            text,
            notices,
            diagnostics,
            console: printed.map((line) => ({ level: "log", text: line })),
            artifacts: artifacts.map((name, index) => ({ name, mimeType: "image/png", sizeBytes: 1, digest: "sha256:0", handle: `result://run_1m8kzybzydkt9fdqc8dyvqjj/${index}` as Handle })),
            ...(error === undefined ? {} : { error, effects: { done, unknown: done, none: done } }),
          };
          const { report, resultTokens } = shape(draft, { budgetTokens, ...(value === undefined ? {} : { value: { value, handle } }) });
          expect(resultTokens).toBeLessThanOrEqual(budgetTokens);
          expect(counter.count(report)).toBe(resultTokens);
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);
});

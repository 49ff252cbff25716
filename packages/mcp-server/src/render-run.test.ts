import { describe, expect, test } from "vitest";
import { completed } from "./fixtures/fake-gate.ts";
import { renderRun } from "./render-run.ts";

describe("renderRun", () => {
  test("a small result is its value and one line", () => {
    const answer = renderRun(completed({ rows: 3 }));
    expect(answer.text).toBe('{"rows":3}\n\nRun run_1 completed in 3 ms, 0 calls.');
    expect(answer.structured).toEqual({ runId: "run_1", status: "completed", value: { rows: 3 }, callCount: 0, durationMs: 3 });
    expect(answer.isError).toBeUndefined();
  });

  test("code-mode 10: a rejected program shows lines, excerpts, nearest names and the declaration", () => {
    const { value: _value, ...rest } = completed(undefined);
    const answer = renderRun({
      ...rest,
      status: "rejected",
      diagnostics: [{ severity: "error", code: "TS2551", message: "Property 'titel' does not exist", line: 3, column: 9, excerpt: "doc.titel", suggestions: ["title"], declaration: "title: string" }],
    });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("was not run: 1 error(s)");
    expect(answer.text).toContain("3:9 TS2551: Property 'titel' does not exist\n    doc.titel\n    did you mean: title\n    declared: title: string");
  });

  test("code-mode 7: a failed run says what happened to the world", () => {
    const { value: _value, ...rest } = completed(undefined);
    const answer = renderRun({
      ...rest,
      status: "failed",
      error: { code: "TOOL_TIMEOUT", message: "No answer within 5 s", tool: "crm.update", retryable: false, line: 4, column: 1 },
      effects: { done: ["crm.create #1"], unknown: ["crm.update #2"], none: [] },
      calls: [{ id: "c1", tool: "crm.update", effect: "write", outcome: "timed_out", effectStatus: "unknown", durationMs: 5000 }],
    });
    expect(answer.text).toContain("TOOL_TIMEOUT (line 4:1, crm.update): No answer within 5 s");
    expect(answer.text).toContain("done: crm.create #1\nunknown, find out before repeating: crm.update #2");
    expect(answer.text).toContain("- crm.update: timed_out (effect unknown)");
    expect(answer.structured).toMatchObject({ status: "failed", effects: { unknown: ["crm.update #2"] }, callsNotOk: [{ tool: "crm.update", effectStatus: "unknown" }] });
  });

  test("code-mode 14: thousands of failed calls stay a few lines on every channel", () => {
    const calls = Array.from({ length: 2000 }, (_, index) => ({ id: `c${index}`, tool: "a.b", effect: "read", outcome: "failed", effectStatus: "none", durationMs: 1 }) as const);
    const answer = renderRun(completed(1, { calls }));
    expect(answer.text.length).toBeLessThan(1000);
    expect(JSON.stringify(answer.structured).length).toBeLessThan(1500);
  });

  test("writes out values JSON has no word for", () => {
    expect(renderRun(completed({ id: 12345678901234567890n, at: new Date(0), nan: Number.NaN })).structured?.["value"]).toEqual({ id: "12345678901234567890", at: "1970-01-01T00:00:00.000Z", nan: "NaN" });
  });
});

import { describe, expect, test } from "vitest";
import { completed } from "./fixtures/fake-gate.ts";
import { renderRun } from "./render-run.ts";

describe("renderRun", () => {
  test("a small result is small on both channels", () => {
    const answer = renderRun(completed({ rows: 3 }));
    expect(answer.text).toBe('status: completed\nvalue:\n{"rows":3}\nrun: run_1');
    expect(answer.structured).toEqual({ runId: "run_1", status: "completed", value: { rows: 3 }, callCount: 0, durationMs: 3 });
    expect(answer.isError).toBeUndefined();
  });

  test("code-mode 10: a rejected program is an error with places, excerpts and nearest names on both channels", () => {
    const { value: _value, ...rest } = completed(undefined);
    const diagnostic = { severity: "error", code: "TS2551", message: "Property 'titel' does not exist", line: 3, column: 9, excerpt: "doc.titel", suggestions: ["title"], declaration: "title: string" } as const;
    const answer = renderRun({ ...rest, status: "rejected", diagnostics: [diagnostic] });
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(/TS2551 at 3:9.*doc\.titel.*title.*title: string/s);
    expect(answer.structured).toMatchObject({ status: "rejected", diagnostics: [diagnostic] });
  });

  test("code-mode 7: a failed run says what happened to the world, on both channels", () => {
    const { value: _value, ...rest } = completed(undefined);
    const answer = renderRun({
      ...rest,
      status: "failed",
      error: { code: "TOOL_TIMEOUT", message: "No answer within 5 s", tool: "crm.update", retryable: false, line: 4, column: 1 },
      effects: { done: ["crm.create #1"], unknown: ["crm.update #2"], none: [] },
      calls: [{ id: "c1", tool: "crm.update", effect: "write", outcome: "timed_out", effectStatus: "unknown", durationMs: 5000 }],
    });
    expect(answer.text).toMatch(/TOOL_TIMEOUT.*crm\.create #1.*UNKNOWN.*crm\.update #2/s);
    expect(answer.structured).toMatchObject({ status: "failed", effects: { unknown: ["crm.update #2"] }, callsNotOk: [{ tool: "crm.update", effectStatus: "unknown" }] });
  });

  test("code-mode 14: thousands of failed calls stay a few lines on every channel", () => {
    const calls = Array.from({ length: 2000 }, (_, index) => ({ id: `c${index}`, tool: "a.b", effect: "read", outcome: "failed", effectStatus: "none", durationMs: 1 }) as const);
    const answer = renderRun(completed(1, { calls }));
    expect(answer.text.length).toBeLessThan(1000);
    expect(JSON.stringify(answer.structured).length).toBeLessThan(1500);
  });

  test("names values JSON has no word for", () => {
    expect(renderRun(completed({ id: 12345678901234567890n, at: new Date(0) })).structured?.["value"]).toEqual({ id: { $bigint: "12345678901234567890" }, at: { $date: "1970-01-01T00:00:00.000Z" } });
  });
});

import { expect, test } from "vitest";
import type { Job } from "./job.ts";
import { runOverMcp } from "./over-mcp.ts";
import { runJob } from "./run-job.ts";

/** The tests of every job: an agent brings about an end state that was not there before, and so does a client of the MCP server. */
export function testJob(job: Job, { outcome }: { /** What the answer of the program says. */ readonly outcome: RegExp }): void {
  test(`${job.name}: an agent reaches the end state, and the meter counts`, { timeout: 300_000 }, async ({ skip }) => {
    const report = await runJob(job);
    if ("missing" in report) return skip(report.missing);
    expect({ stop: report.result.stop, unmet: report.checks.filter(({ ok }) => !ok) }).toEqual({ stop: { kind: "answered" }, unmet: [] });
    expect(report.isReached).toBe(true);
    expect(report.meter.calls).toBeGreaterThan(2);
    expect(report.meter.here.inputTokens).toBeGreaterThan(0);
    expect(report.meter.direct.inputTokens).toBeGreaterThan(0);
  });

  test(`${job.name}: a client of the MCP server reaches it with the same program`, { timeout: 300_000 }, async ({ skip }) => {
    const report = await runOverMcp(job);
    if ("missing" in report) return skip(report.missing);
    expect(report.tools).toEqual(["search_tools", "get_tool_details", "call_tool", "execute_code", "query_code", "read_result"]);
    expect({ isError: report.isError, text: report.text }).toEqual({ isError: false, text: expect.stringMatching(outcome) as string });
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
  });
}

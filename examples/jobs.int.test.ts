import { afterAll, describe, expect, test } from "vitest";
import type { CallgateOptions } from "callgate";
import { createEvalGates } from "../packages/callgate/src/eval/eval-gates.ts";
import { job as backfillRecords } from "./backfill-records/job.ts";
import { job as dataAnalysis } from "./data-analysis/job.ts";
import { job as findTheFault } from "./find-the-fault/job.ts";
import { job as mainJob } from "./main-job/job.ts";
import { job as reviewedContent } from "./reviewed-content/job.ts";
import type { Job } from "./shared/job.ts";
import { runOverMcp } from "./shared/over-mcp.ts";
import { runJob } from "./shared/run-job.ts";
import { job as weeklyReport } from "./weekly-report/job.ts";

/** One compiler for all of them: its start is most of what a small job costs. */
const gates = createEvalGates();
const openGate = (options: CallgateOptions, stateFolder: string) => gates.open(options, stateFolder);
afterAll(() => gates[Symbol.asyncDispose]());

const jobs: readonly (readonly [Job, RegExp])[] = [
  [mainJob, /2026-11-24-northwind\.md/],
  [backfillRecords, /"seen": ?2000/],
  [findTheFault, /pool_size 50 -> 5/],
  [weeklyReport, /week-48\.pdf/],
  [reviewedContent, /LM-05[^]*held back/],
  [dataAnalysis, /"shares": ?3/],
];

describe.each(jobs.map(([job, outcome]) => ({ job, name: job.name, outcome })))("$name", { timeout: 600_000 }, ({ job, outcome }) => {
  test("an agent brings about an end state that was not there before, and the meter counts", async ({ skip }) => {
    const report = await runJob(job, { openGate });
    if ("missing" in report) return skip(report.missing);
    expect({ stop: report.result.stop, unmet: report.checks.filter(({ ok }) => !ok) }).toEqual({ stop: { kind: "answered" }, unmet: [] });
    expect(report.isReached).toBe(true);
    expect(report.meter.calls).toBeGreaterThan(2);
    expect(report.meter.here.inputTokens).toBeGreaterThan(0);
    expect(report.meter.direct.inputTokens).toBeGreaterThan(0);
  });

  test("a client of the MCP server reaches it with the same program", async ({ skip }) => {
    const report = await runOverMcp(job, openGate);
    if ("missing" in report) return skip(report.missing);
    expect(report.tools).toEqual(["search_tools", "get_tool_details", "call_tool", "execute_code", "query_code", "read_result"]);
    expect({ isError: report.isError, text: report.text }).toEqual({ isError: false, text: expect.stringMatching(outcome) as string });
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
  });
});

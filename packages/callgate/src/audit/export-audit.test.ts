import type { AuditRow } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { exportAudit } from "./export-audit.ts";

const digest = `sha256:${"a".repeat(64)}` as const;

function row(changes: Partial<AuditRow> = {}): AuditRow {
  return {
    callId: "run_1.0",
    kind: "call",
    runId: "run_1",
    principal: { tenant: "acme", user: "ann", agent: "assistant", roles: ["sales"] },
    programDigest: digest,
    tool: "crm.pay",
    definitionDigest: digest,
    effect: "write",
    args: { digest, summary: { amount: 5, note: 'say "hi", you\n' } },
    decision: { kind: "allow", ruleId: "r1", reason: "a reason that is sealed" },
    approval: { approvalId: "apr_1", by: "carol" },
    outcome: "failed",
    effectStatus: "unknown",
    error: { code: "TOOL_FAILED", message: "a message that is sealed" },
    atMs: 1_900_000_000_000,
    endedAtMs: 1_900_000_000_020,
    durationMs: 19.6,
    attempts: 2,
    cached: false,
    ...changes,
  };
}

async function* given(rows: readonly AuditRow[]): AsyncGenerator<AuditRow> {
  yield* rows;
}

async function text(rows: readonly AuditRow[], format: "jsonl" | "csv" | "otel"): Promise<string> {
  let all = "";
  for await (const part of exportAudit(given(rows), format)) all += part;
  return all;
}

describe("exportAudit", () => {
  test.each(["jsonl", "csv", "otel"] as const)("leaves out of %s what the journal keeps sealed", async (format) => {
    const written = await text([row()], format);
    expect(written).toContain("TOOL_FAILED");
    expect(written).not.toContain("sealed");
  });

  test("writes a JSON object a line", async () => {
    const lines = (await text([row(), row({ callId: "run_1.1" })], "jsonl")).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as AuditRow).callId)).toEqual(["run_1.0", "run_1.1"]);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ decision: { kind: "allow", ruleId: "r1" }, error: { code: "TOOL_FAILED" } });
  });

  test("writes CSV with a head line, quoted where it must be, whole numbers as they are", async () => {
    const written = await text([row()], "csv");
    const [head = ""] = written.split("\n");
    expect(head).toBe("at,ended_at,duration_ms,tenant,user,agent,task,run,call,kind,program_digest,tool,definition_digest,effect,arguments,arguments_digest,performed,performed_by,decision,rule,approval,approver,outcome,effect_status,error,result,result_digest,attempts,answered_by,idempotency_key,undoes,settled,settled_by,release,release_rule,released_by,release_approval");
    expect(written).toContain('2030-03-17T17:46:40.000Z,2030-03-17T17:46:40.020Z,20,acme,ann,assistant,,run_1,run_1.0,call,');
    expect(written).toContain(String.raw`"{""amount"":5,""note"":""say \""hi\"", you\n""}"`);
  });

  test("tells of a result that was held who had a say, in every format", async () => {
    const held = row({ release: { released: false, ruleId: "exports", by: "dora", approvalId: "apr_2" } });
    expect((await text([held], "csv")).trimEnd()).toMatch(/,withheld,exports,dora,apr_2$/);
    expect((await text([row()], "csv")).trimEnd()).toMatch(/,,,,$/);
    for (const part of ['"callgate.release.released","value":{"boolValue":false}', '"callgate.release.rule_id","value":{"stringValue":"exports"}', '"callgate.release.by","value":{"stringValue":"dora"}', '"callgate.release.approval.id","value":{"stringValue":"apr_2"}']) expect(await text([held], "otel")).toContain(part);
  });

  test.each(["=1+1", "+cmd|'/C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])("a cell that begins like a formula is none for a spreadsheet: %j", async (formula) => {
    const written = await text([row({ principal: { tenant: "acme", user: formula, roles: [] }, performed: { digest, summary: formula, by: formula } })], "csv");
    expect(written).not.toMatch(/[,\n]"?[=+\-@\t\r]/);
    expect(written).toContain(`'${formula}`);
  });

  test("writes OTLP: one request a line of at most 200 records, the conventions' names, times in nanoseconds", async () => {
    const lines = (await text(Array.from({ length: 450 }, (_, seq) => row({ callId: `run_1.${seq}` })), "otel")).trimEnd().split("\n");
    const requests = lines.map((line) => JSON.parse(line) as { resourceLogs: { resource: { attributes: unknown }; scopeLogs: { logRecords: { attributes: { key: string; value: unknown }[] }[] }[] }[] });
    expect(requests.map(({ resourceLogs }) => resourceLogs[0]?.scopeLogs[0]?.logRecords.length)).toEqual([200, 200, 50]);
    const record = requests[0]?.resourceLogs[0]?.scopeLogs[0]?.logRecords[0];
    expect(record).toMatchObject({ timeUnixNano: "1900000000000000000", observedTimeUnixNano: "1900000000020000000", severityNumber: 13, severityText: "WARN", eventName: "callgate.audit" });
    const attributes = Object.fromEntries(record?.attributes.map(({ key, value }) => [key, value]) ?? []);
    expect(attributes).toMatchObject({
      "gen_ai.operation.name": { stringValue: "execute_tool" },
      "gen_ai.tool.name": { stringValue: "crm.pay" },
      "gen_ai.tool.call.id": { stringValue: "run_1.0" },
      "gen_ai.agent.name": { stringValue: "assistant" },
      "user.id": { stringValue: "ann" },
      "user.roles": { arrayValue: { values: [{ stringValue: "sales" }] } },
      "error.type": { stringValue: "TOOL_FAILED" },
      "callgate.rule.id": { stringValue: "r1" },
      "callgate.approval.by": { stringValue: "carol" },
      "callgate.duration_ms": { doubleValue: 19.6 },
      "callgate.attempts": { intValue: "2" },
      "callgate.cached": { boolValue: false },
    });
  });

  test.each(["jsonl", "csv", "otel"] as const)("holds no more than a batch of %s, however many rows there are", async (format) => {
    let handedOut = 0;
    async function* endless(): AsyncGenerator<AuditRow> {
      for (;;) {
        handedOut += 1;
        yield row();
      }
    }
    for await (const part of exportAudit(endless(), format)) if (part.includes("crm.pay")) break;
    expect(handedOut).toBeLessThanOrEqual(200);
  });

  test("an empty trail is an empty export, of CSV the head line", async () => {
    expect([await text([], "jsonl"), await text([], "otel"), (await text([], "csv")).split("\n").length]).toEqual(["", "", 2]);
  });
});

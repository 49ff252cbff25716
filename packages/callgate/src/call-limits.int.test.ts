import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingRedis, startRedis } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate, defineTool } from "./index.ts";
import type { CallgateOptions } from "./index.ts";

const missing = missingRedis();

async function openGate(options: CallgateOptions) {
  const folder = await mkdtemp(join(tmpdir(), "callgate-limits-"));
  const ran = { times: 0 };
  const get = defineTool({ name: "get", description: "counts", effect: "read", input: { type: "object" }, handler: () => ++ran.times });
  const gate = await createCallgate({ folder, stateFolder: folder, tools: { crm: [get] }, ...options });
  onTestFinished(async () => {
    await gate.close();
    await rm(folder, { recursive: true });
  });
  return { gate, ran };
}

const program = 'const all = await Promise.allSettled(Array.from({ length: 30 }, () => tools.crm.get({}))); return all.map((one) => one.status === "fulfilled" ? "ok" : one.reason.code + " " + one.reason.details.bucket + " " + (one.reason.details.retryAfterMs > 0))';

test("a program's parallel calls are held to a rate limit, and it can read which, and when to call again", async () => {
  const { gate, ran } = await openGate({ rateLimits: [{ id: "ten", tools: "crm.*", per: ["user"], calls: 10, windowSeconds: 3600 }] });
  const result = await gate.run(program, { language: "javascript" });
  const told = result.value?.kind === "whole" ? (result.value.value as string[]) : [];
  expect([told.filter((one) => one === "ok").length, told.filter((one) => one === "LIMIT_EXCEEDED ten true").length, ran.times]).toEqual([10, 20, 10]);
  expect(result.calls.filter(({ outcome }) => outcome === "limit_exceeded")).toHaveLength(20);
  expect((await gate.call("crm.get", {})).outcome).toMatchObject({ kind: "limit_exceeded", effectStatus: "none" });
});

test("a limit that is wrong is refused when the gate is opened, and nothing is left open", async () => {
  await expect(openGate({ rateLimits: [{ id: "one", tools: "crm", calls: 1, windowSeconds: 1 }] })).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining('rateLimits[0].tools "crm" can match no tool') });
});

test.skipIf(missing !== undefined)(`two gates that share a Redis share the counts; without it their limited calls do not happen${missing === undefined ? "" : ` (skipped: ${missing})`}`, async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  process.env["CALLGATE_TEST_REDIS"] = server.url;
  const options: CallgateOptions = { redis: "env:CALLGATE_TEST_REDIS", rateLimits: [{ id: "shared", calls: 12, windowSeconds: 3600 }] };
  const [one, other] = [await openGate(options), await openGate(options)];
  await Promise.all([one.gate.run(program, { language: "javascript" }), other.gate.run(program, { language: "javascript" })]);
  expect(one.ran.times + other.ran.times).toBe(12);
  await server.stop();
  const { outcome } = await one.gate.call("crm.get", {});
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "LIMIT_UNAVAILABLE" } });
  expect(JSON.stringify(outcome)).not.toContain("127.0.0.1");
});

test("redis must be a reference to the URL of one", async () => {
  process.env["CALLGATE_TEST_REDIS"] = "http://localhost";
  await expect(openGate({ redis: "env:CALLGATE_TEST_REDIS" })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("redis://") });
});

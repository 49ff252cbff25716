import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectRedis } from "@callgate/redis";
import { missingRedis, startRedis } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate, defineTool, ToolError } from "./index.ts";
import type { CallgateOptions, GateEvent } from "./index.ts";

const missing = missingRedis();

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-limits-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function openGate(options: CallgateOptions) {
  const folder = options.stateFolder ?? (await makeFolder());
  const ran = { times: 0 };
  const input = { type: "object" } as const;
  const tools = [
    defineTool({ name: "get", description: "counts", effect: "read", input, handler: () => ++ran.times }),
    defineTool({ name: "kept", description: "counts, and may be kept", effect: "read", input, cache: { ttlMs: 60_000 }, handler: () => `secret ${++ran.times}` }),
  ];
  const gate = await createCallgate({ folder, stateFolder: folder, tools: { crm: tools }, ...options });
  onTestFinished(() => gate.close());
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
  const options: CallgateOptions = { redis: "env:CALLGATE_TEST_REDIS", cache: { store: "redis" }, rateLimits: [{ id: "shared", tools: "crm.get", calls: 12, windowSeconds: 3600 }] };
  const stateFolder = await makeFolder();
  const [one, other] = [await openGate({ ...options, stateFolder }), await openGate({ ...options, stateFolder })];
  await Promise.all([one.gate.run(program, { language: "javascript" }), other.gate.run(program, { language: "javascript" })]);
  expect(one.ran.times + other.ran.times).toBe(12);
  expect([(await one.gate.call("crm.kept", {})).outcome, (await other.gate.call("crm.kept", {})).outcome]).toMatchObject([{ kind: "ok" }, { kind: "ok" }]);
  expect(one.ran.times + other.ran.times).toBe(13);
  await server.stop();
  expect((await one.gate.call("crm.kept", { another: true })).outcome.kind).toBe("ok");
  const { outcome } = await one.gate.call("crm.get", {});
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "LIMIT_UNAVAILABLE" } });
  expect(JSON.stringify(outcome)).not.toContain("127.0.0.1");
});

test.skipIf(missing !== undefined)(`a gate that could not be opened leaves no connection to Redis${missing === undefined ? "" : ` (skipped: ${missing})`}`, async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  process.env["CALLGATE_TEST_REDIS"] = server.url;
  const redis = "env:CALLGATE_TEST_REDIS";
  await expect(openGate({ redis, rateLimits: [{ id: "one", tools: "crm", calls: 1, windowSeconds: 1 }] })).rejects.toMatchObject({ code: "USAGE" });
  await expect(openGate({ redis, limits: { calls: 0 } })).rejects.toMatchObject({ code: "USAGE" });
  await expect(openGate({ redis, cache: { maxMiB: 1 } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await expect(openGate({ redis, journal: { path: "/proc/none/journal.db" } })).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
  const looking = await connectRedis(server.url);
  onTestFinished(() => looking.close());
  const others = async (): Promise<number> => (await looking.client.clientList()).length - 1;
  // The server hears of a connection's end a moment later.
  const until = Date.now() + 10_000;
  while ((await others()) > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await others()).toBe(0);
});

test("redis must be a reference to the URL of one", async () => {
  process.env["CALLGATE_TEST_REDIS"] = "http://localhost";
  await expect(openGate({ redis: "env:CALLGATE_TEST_REDIS" })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("redis://") });
});

test("answers in a file serve the gates of this machine one after the other, and are not readable there", async () => {
  const stateFolder = await makeFolder();
  const cache = { store: "sqlite" } as const;
  const first = await openGate({ stateFolder, cache });
  expect((await first.gate.call("crm.kept", { n: 1 })).outcome).toMatchObject({ kind: "ok", value: "secret 1" });
  await first.gate.close();
  const other = await openGate({ stateFolder, cache });
  const events: GateEvent[] = [];
  other.gate.onEvent((event) => void events.push(event));
  const { outcome, runId } = await other.gate.call("crm.kept", { n: 1 });
  expect([outcome, other.ran.times]).toMatchObject([{ kind: "ok", value: "secret 1" }, 0]);
  expect(events.find(({ kind }) => kind === "call-ended")).toMatchObject({ cached: true });
  expect((await other.gate.runs.show(runId))?.entries.find(({ kind }) => kind === "call-ended")).toMatchObject({ cached: true, attempts: 0 });
  expect((await other.gate.call("crm.kept", { n: 1 }, { principal: { tenant: "local", user: "bob", roles: [], claims: {} } })).outcome).toMatchObject({ value: "secret 1" });
  expect(other.ran.times).toBe(1);
  for (const name of await readdir(stateFolder)) if (name.startsWith("answers")) expect((await readFile(join(stateFolder, name))).includes("secret")).toBe(false);
});

test("a circuit that opens is told as an event, shown with its namespace, and a program reads when to call again", async () => {
  const down = defineTool({ name: "get", description: "is down", effect: "read", input: { type: "object" }, handler: () => { throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: "no answer", retryable: true }); } });
  const { gate } = await openGate({ tools: { crm: [down] }, circuitBreaker: { failures: 2, openMs: 60_000 } });
  const changes: GateEvent[] = [];
  gate.onEvent((event) => { if (event.kind === "circuit-changed") changes.push(event); });
  const result = await gate.run("const codes = []; for (let n = 0; n < 3; n++) try { await tools.crm.get({}) } catch (error) { codes.push(error.code, error.details?.retryAfterMs > 50000) } return codes", { language: "javascript" });
  expect(result.value).toMatchObject({ value: ["SOURCE_UNAVAILABLE", false, "SOURCE_UNAVAILABLE", false, "CIRCUIT_OPEN", true] });
  expect(changes).toMatchObject([{ namespace: "crm", state: "open", retryAfterMs: 60_000 }]);
  expect(gate.namespaces().find(({ namespace }) => namespace === "crm")).toMatchObject({ state: { kind: "ready" }, circuit: { state: "open" } });
});

test("a cache that cannot be is refused", async () => {
  await expect(openGate({ cache: { store: "redis" } })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining('"redis": "env:REDIS_URL"') });
  await expect(openGate({ cache: { maxMiB: 5 } })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("cache.maxMiB") });
});

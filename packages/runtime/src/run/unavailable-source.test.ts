import { CallgateError } from "@callgate/contract";
import type { Journal, Principal, Source, SourceState } from "@callgate/contract";
import { localPrincipal } from "@callgate/contract";
import { memoryBlobs, testPolicy } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { createTestGate, testSource } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";

/** A source that cannot be listed before `up` is set. */
function downSource(namespace: string, state: SourceState = { kind: "down", reason: "the server could not be started: /opt/secret-place", brief: "the server could not be started", retryAfterMs: 1_500 }) {
  const up = testSource([{ name: "get", handler: () => ({ name: "Ann" }) }], namespace).source;
  const control = { up: false, lists: 0, listener: (): void => undefined };
  const source: Source = {
    ...up,
    kind: "mcp",
    get state(): SourceState {
      return control.up ? { kind: "ready" } : state;
    },
    list(signal) {
      control.lists += 1;
      return control.up ? up.list(signal) : Promise.reject(new CallgateError("SOURCE_FAILED", "down: /opt/secret-place"));
    },
    onChange: () => undefined,
  };
  return { source, control };
}

const guest: Principal = { ...localPrincipal, user: "guest", roles: ["guest"] };
const hidden = { ...testPolicy(), visible: ({ roles }: Principal, tool: string) => !(roles.includes("guest") && tool.startsWith("crm.")), mayReach: ({ roles }: Principal, namespace: string) => !(roles.includes("guest") && namespace === "crm") };

let open: TestGate[] = [];
afterEach(async () => {
  for (const { gate } of open) await gate.close();
  open = [];
});
async function gateWith(source: Source, options: NonNullable<Parameters<typeof createTestGate>[1]> = {}) {
  const made = await createTestGate([], { sources: [testSource([{ name: "echo", handler: (args) => args }]), { source }], policy: hidden, ...options });
  open.push(made);
  await made.gate.ready();
  return made.gate;
}

describe("a source that cannot be reached", { timeout: 60_000 }, () => {
  test("ends a direct call as SOURCE_UNAVAILABLE: which, why, what works, when to try again; nothing of the host", async () => {
    const gate = await gateWith(downSource("crm").source);
    const { outcome } = await gate.call("crm.get", {});
    expect(outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "SOURCE_UNAVAILABLE", tool: "crm.get", retryable: true, details: { source: "crm" } } });
    expect(outcome.kind !== "ok" && outcome.error.message).toBe("The source crm is down: the server could not be started. Its tools cannot be called for now. What works: t. Try again in 2 s: it is then asked anew. Nothing was changed.");
  });

  test("that nothing but a person can mend is not worth a second try", async () => {
    const gate = await gateWith(downSource("crm", { kind: "down", reason: "its settings lead nowhere" }).source);
    const { outcome } = await gate.call("crm.get", {});
    expect(outcome).toMatchObject({ error: { code: "SOURCE_UNAVAILABLE", retryable: false } });
    expect(outcome.kind !== "ok" && outcome.error.message).toContain("Trying again does not help before a person has mended it (callgate doctor).");
  });

  test("that needs a sign-in says so", async () => {
    const gate = await gateWith(downSource("crm", { kind: "auth_needed", reason: "run: callgate auth crm" }).source);
    expect((await gate.call("crm.get", {})).outcome).toMatchObject({ error: { code: "SOURCE_UNAVAILABLE", message: expect.stringContaining("needs somebody to sign in: run: callgate auth crm") } });
  });

  test("that hangs says so, and that it is still being connected before that", async () => {
    const { source } = downSource("crm", { kind: "connecting" });
    const hanging: Source = { ...source, state: { kind: "connecting" }, list: () => new Promise(() => undefined) };
    const gate = await gateWith(hanging, { defaults: { listTimeoutMs: 50 } });
    expect((await gate.call("crm.get", {})).outcome).toMatchObject({ error: { code: "SOURCE_UNAVAILABLE", retryable: true, message: expect.stringContaining("is down: it did not say within 0.05 s which tools it has") } });
    const made = await createTestGate([], { sources: [{ source: hanging }] });
    open.push(made);
    expect(made.gate.namespaces()).toMatchObject([{ namespace: "crm", toolCount: 0, unavailable: { message: expect.stringContaining("is still being connected"), retryable: true } }]);
  });

  test.each(['import { crm } from "tools";\nreturn await crm.get({})', 'import * as crm from "tools/crm";\nreturn await crm.get({})', "const n = 1;\nreturn [n, await tools.crm.get({})]", "return [1,\nawait crm.get({})]"])("refuses a program that uses it, with its place and reason: %j", async (program) => {
    const gate = await gateWith(downSource("crm").source);
    const result = await gate.run(program);
    expect(result.status).toBe("rejected");
    expect(result.diagnostics[0]).toMatchObject({ severity: "error", code: "SOURCE_UNAVAILABLE", message: expect.stringContaining("The source crm is down: the server could not be started.") });
    expect(result.diagnostics[0]?.line).toBe(program.startsWith("import") ? 1 : 2);
  });

  test("is not taken for a misspelling of one that is there", async () => {
    const gate = await gateWith(downSource("crm").source, { sources: [testSource([{ name: "get", handler: () => 1 }], "crn"), { source: downSource("crm").source }] });
    const result = await gate.run("return await tools.crm.get({})");
    expect(result).toMatchObject({ status: "rejected", repairs: [], diagnostics: [{ code: "SOURCE_UNAVAILABLE" }] });
  });

  test("ends a call whose tool the program chose at run time, catchably, and the call is on record", async () => {
    const gate = await gateWith(downSource("crm").source);
    const result = await gate.run('const space: any = tools;\nconst name = ["c", "rm"].join("");\ntry { await space[name].get({}); } catch (error: any) { return [error.code, error.tool, error.retryable, error.details.source]; }');
    expect(result).toMatchObject({ status: "completed", value: { kind: "whole", value: ["SOURCE_UNAVAILABLE", "crm.get", true, "crm"] }, calls: [{ tool: "crm.get", outcome: "failed", effectStatus: "none" }] });
  });

  test("is told beside what a search or a description of its tools finds", async () => {
    const gate = await gateWith(downSource("crm").source);
    const told = expect.arrayContaining([expect.stringContaining("The source crm is down")]);
    expect(await gate.run('return await tools.search("customers")')).toMatchObject({ status: "completed", notices: told });
    expect(await gate.run('return await tools.describe("crm.get")')).toMatchObject({ value: { value: [] }, notices: told });
    expect((await gate.run('return await tools.describe("t.echo")')).notices).toEqual([]);
    expect((await gate.run('return await tools.t.echo({})')).notices).toEqual([]);
  });

  test("is asked anew at a use, and its tools are there once it answers", async () => {
    const { source, control } = downSource("crm");
    const gate = await gateWith(source);
    expect(control.lists).toBe(1);
    control.up = true;
    expect((await gate.call("crm.get", {})).outcome).toMatchObject({ kind: "ok", value: { name: "Ann" } });
    expect(await gate.run("return (await tools.crm.get({})).name")).toMatchObject({ status: "completed" });
    expect(gate.namespaces().find(({ namespace }) => namespace === "crm")).not.toHaveProperty("unavailable");
  });

  test("keeps a run that waits from going on, without taking its tools for gone; it goes on once the source is there", async () => {
    const { source, control } = downSource("crm");
    control.up = true;
    let journal: Journal | undefined;
    const kept = (given: Journal): Journal => (journal ??= given);
    const withoutClose = (given: Journal): Journal => Object.assign(Object.create(kept(given)) as Journal, { close: () => Promise.resolve() });
    const blobs = memoryBlobs();
    const first = await gateWith(source, { blobs, wrapJournal: withoutClose });
    const { runId, status } = await first.run('const told = await waitFor("go"); return [told, (await tools.crm.get({})).name]', { suspendAfterMs: 0 });
    expect(status).toBe("suspended");
    await first.close();
    const away = downSource("crm");
    const second = await gateWith(away.source, { blobs, wrapJournal: kept });
    await second.runs.signal(runId, { name: "go", payload: 1 });
    await expect(second.runs.resume(runId)).rejects.toMatchObject({ code: "SOURCE_FAILED", message: expect.stringMatching(/was not resumed.*The source crm is down: the server could not be started.*the run waits on/) });
    expect((await second.runs.show(runId))?.run.status).toBe("suspended");
    away.control.up = true;
    await second.call("crm.get", {});
    expect(await second.runs.resume(runId)).toMatchObject({ status: "completed", value: { value: [1, "Ann"] } });
  });

  test("br-001: does not exist for who may call nothing of it: words, codes and record are those of a namespace that is not there", async () => {
    const gate = await gateWith(downSource("crm").source);
    const same = (text: unknown): string => JSON.stringify(text).replaceAll("crm", "NAME").replaceAll("xyz", "NAME").replaceAll(/run_\w+/g, "RUN").replaceAll(/"durationMs":[\d.]+/g, "");
    const uses = (namespace: string) => [
      gate.call(`${namespace}.get`, {}, { principal: guest }).then(({ outcome }) => outcome),
      ...[`return await tools.${namespace}.get({})`, `import { ${namespace} } from "tools"; return 1`, `import * as n from "tools/${namespace}"; return 1`].map((program) => gate.run(program, { principal: guest }).then(({ status, diagnostics }) => [status, diagnostics])),
      gate.run(`const space: any = tools; return await space["${namespace}".trim()].get({})`, { principal: guest }).then(({ status, error, calls }) => [status, error, calls]),
      gate.run(`return [await tools.search("get", { namespace: "${namespace}" }), await tools.describe("${namespace}.get")]`, { principal: guest }).then(({ value, notices }) => [value, notices]),
    ];
    const [denied, missing] = [await Promise.all(uses("crm")), await Promise.all(uses("xyz"))];
    expect(denied.map(same)).toEqual(missing.map(same));
    expect(gate.namespaces({ principal: guest }).find(({ namespace }) => namespace === "crm")).not.toHaveProperty("unavailable");
  });
});

import { localPrincipal, SourceReturn } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { errorOf, testGate, testTool } from "./fixtures/test-broker.ts";
import type { TestTool } from "./fixtures/test-broker.ts";

const gateFor = (run: (context: ToolContext) => unknown, more: TestTool = {}) => testGate({ tools: [testTool("crm.pay", { ...more, run: (_args, context) => run(context) })] });
const file = (name: string, mimeType = "text/plain") => ({ name, mimeType, bytes: new TextEncoder().encode(name) });

describe("createToolContext", () => {
  test("tells progress between start and end, redacted; odd fractions are dropped", async () => {
    const gate = gateFor((context) => {
      context.progress("half of canary-7f3a", 0.5);
      context.progress("odd", 7);
    });
    await gate.call("crm.pay");
    expect(gate.events.slice(2, 5)).toMatchObject([{ kind: "call-started" }, { kind: "call-progressed", message: "half of [secret]", fraction: 0.5, callId: "call_1" }, { kind: "call-progressed", message: "odd" }]);
    expect(gate.events[4]).not.toHaveProperty("fraction");
  });

  test("tells nothing more of a call that is over, and keeps no file of it", async () => {
    let kept: ToolContext | undefined;
    const gate = gateFor((context) => { kept = context; return new Promise(() => undefined); });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(1000);
    await performing;
    kept?.progress("still at it");
    await expect(kept?.attach(file("a"))).rejects.toMatchObject({ code: "CANCELLED" });
    expect([gate.eventKinds().at(-1), gate.blobs.kept.size]).toEqual(["call-ended", 0]);
  });

  test("tells no progress after a good end, nor of an attempt that was given up while the next is under way", async () => {
    const contexts: ToolContext[] = [];
    const gate = gateFor((context) => {
      contexts.push(context);
      if (contexts.length === 1) return new Promise(() => undefined);
      contexts[0]?.progress("first again");
      return 1;
    }, { effect: "read", retry: { retries: 1 } });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(2000);
    expect((await performing).outcome.kind).toBe("ok");
    contexts[1]?.progress("after the end");
    expect(gate.eventKinds()).not.toContain("call-progressed");
  });

  test("writes log lines with run, call and tool, redacted", async () => {
    const gate = gateFor((context) => {
      context.log.warn("token canary-7f3a", { header: "canary-7f3a", n: 1 });
      context.log.debug("plain");
    });
    await gate.call("crm.pay");
    expect(gate.logs).toEqual([
      { level: "warn", message: "token [secret]", fields: { header: "[secret]", n: 1 }, atMs: gate.clock.now(), runId: "run_1", principal: localPrincipal, callId: "call_1", tool: "crm.pay" },
      { level: "debug", message: "plain", atMs: gate.clock.now(), runId: "run_1", principal: localPrincipal, callId: "call_1", tool: "crm.pay" },
    ]);
  });

  test("stores files under the tenant, with harmless names and types", async () => {
    const gate = gateFor(async (context) => {
      for (const [name, type] of [["a.txt"], ["../../etc/passwd"], ["C:\\x\\b.txt"], [".."], ["n\u0000u\u202el.txt"], ["x", "text/html\r\nX-Evil: 1"]] as const) await context.attach(file(name, type));
    });
    const { outcome } = await gate.call("crm.pay");
    const artifacts = outcome.kind === "ok" ? outcome.artifacts : [];
    expect(artifacts.map(({ name, mimeType }) => [name, mimeType])).toEqual([["a.txt", "text/plain"], ["passwd", "text/plain"], ["b.txt", "text/plain"], ["file", "text/plain"], ["nul.txt", "text/plain"], ["x", "application/octet-stream"]]);
    expect([...gate.blobs.kept.keys()].every((key) => key.startsWith("local sha256:"))).toBe(true);
    expect(gate.entries().at(-1)).toMatchObject({ artifacts });
  });

  test("keeps the bytes as they were when they were attached", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const gate = gateFor((context) => {
      const storing = context.attach({ name: "a", mimeType: "a/b", bytes });
      bytes.fill(0);
      return storing.then(() => null);
    });
    await gate.call("crm.pay");
    expect([...gate.blobs.kept.values()]).toEqual([new Uint8Array([1, 2, 3])]);
  });

  test("waits for files that the handler did not wait for, in the order they were attached; a lost one ends nothing", async () => {
    const gate = gateFor((context) => {
      for (const name of ["a", "lost", "b"]) void context.attach(file(name)); // oxlint-disable-line no-floating-promises
      return 1;
    });
    const put = gate.blobs.put.bind(gate.blobs);
    let nth = 0;
    gate.blobs.put = async (tenant, bytes) => {
      const turn = ++nth;
      for (let wait = 0; wait < 4 - turn; wait++) await new Promise((resolve) => setImmediate(resolve));
      if (turn === 2) throw new Error("disk full");
      return await put(tenant, bytes);
    };
    const { outcome } = await gate.call("crm.pay");
    expect(outcome.kind === "ok" && outcome.artifacts.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("keeps no files of an attempt that failed", async () => {
    let ran = 0;
    const gate = gateFor(async (context) => {
      ran += 1;
      await context.attach(file(`f${ran}`));
      if (ran === 1) throw new Error("busy");
      return 1;
    }, { retry: { retries: 1 } });
    const performing = gate.call("crm.pay");
    await gate.clock.advance(500);
    const { outcome } = await performing;
    expect(outcome.kind === "ok" && outcome.artifacts.map(({ name }) => name)).toEqual(["f2"]);
  });

  test("says that a write happened though its files were lost", async () => {
    const gate = gateFor(() => null);
    gate.blobs.put = () => Promise.reject(new Error("disk full"));
    const lossy = testTool("crm.pay", { run: () => new SourceReturn(1, [file("a")]) });
    const performed = await gate.call("crm.pay", {}, { catalog: { resolve: () => lossy, nearest: () => [] } });
    expect(performed.outcome).toMatchObject({ kind: "failed", effectStatus: "done" });
    expect(errorOf(performed).message).toBe("The files of the result could not be kept: disk full. The change itself took effect; do not repeat the call.");
  });

  test("lets a precheck attach nothing", async () => {
    const gate = gateFor(() => 1, { precheck: async (_args, context) => void (await context.attach(file("a"))) });
    expect(errorOf(await gate.call("crm.pay")).message).toContain("A precheck cannot attach files");
    expect(gate.blobs.kept.size).toBe(0);
  });

  test("hands over the key, run, call, and a signal that lives", async () => {
    let seen: ToolContext | undefined;
    const gate = gateFor((context) => void (seen = context));
    await gate.call("crm.pay");
    expect(seen).toMatchObject({ runId: "run_1", callId: "call_1" });
    const issued = gate.entries()[0];
    expect(seen?.idempotencyKey).toBe(issued?.kind === "call-issued" ? issued.idempotencyKey : "");
  });
});

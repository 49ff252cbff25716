import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { makeWorkflow } from "@callgate/runtime/workflow";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";
import { toolChanges } from "./tool-changes.ts";
import { createToolHistory } from "./tool-history.ts";

const base = { name: "get", description: "Reads an order", effect: "read" } as const;
const versions = {
  one: defineTool({ ...base, input: z.object({ id: z.string() }), output: z.object({ status: z.string() }), handler: () => ({ status: "open" }) }),
  wider: defineTool({ ...base, input: z.object({ id: z.string() }), output: z.object({ status: z.string(), total: z.number() }), handler: () => ({ status: "open", total: 1 }) }),
  two: defineTool({ ...base, input: z.object({ order: z.string() }), output: z.object({ state: z.string() }), handler: () => ({ state: "open" }) }),
};
const other = defineTool({ name: "ping", description: "Pings", effect: "read", input: z.object({}), output: z.string(), handler: () => "pong" });

describe("what changed in the tools", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-diff-"));
  const opened: Gate[] = [];
  let nowMs = 1_000_000;
  const history = createToolHistory({ stateFolder: join(root, "state"), folder: root, nowMs: () => nowMs });
  async function open(version: keyof typeof versions, rules: readonly object[] = []): Promise<Gate> {
    nowMs += 60_000;
    const clock = { ...(await import("@callgate/runtime")).systemClock(), now: () => nowMs };
    const gate = await createCallgate({ stateFolder: join(root, "state"), folder: root, clock, tools: { shop: [versions[version]], net: [other] }, rules: [...rules, { allow: "*" }] as never });
    opened.push(gate);
    await gate.ready();
    return gate;
  }
  afterEach(async () => {
    for (const gate of opened.splice(0)) await gate.close();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("nothing at first; then workflows, programs and rules that it breaks, and those that still fit", async () => {
    const first = await open("one", [{ deny: "shop.get", when: { args: { "/id": "W0" } } }]);
    const { runId } = await first.run('return (await tools.shop.get({ id: "W1" })).status');
    await first.run('return (await tools.shop.get({ id: "W1" })).status');
    await first.run("return await tools.net.ping({})");
    const workflow = { ...(await makeWorkflow(first, { runId, name: "status_of", version: "1.0.0", description: "x" })), digest: "sha256:00" as const };
    expect((await toolChanges(first, { history, workflows: [workflow] })).namespaces).toEqual([]);

    const wider = await open("wider", [{ deny: "shop.get", when: { args: { "/id": "W0" } } }]);
    const compatible = await toolChanges(wider, { history, workflows: [workflow] });
    expect(compatible).toMatchObject({ namespaces: [{ namespace: "shop", changes: [{ tool: "shop.get", kind: "changed", breaks: [] }] }], programs: [], programsThatFit: 1, policies: [] });
    expect([...new Set(compatible.workflows.map(({ severity }) => severity))]).toEqual(["changed"]);

    const second = await open("two", [{ deny: "shop.get", when: { args: { "/id": "W0" } } }]);
    const broken = await toolChanges(second, { history, workflows: [workflow], since: { atMs: 1_060_000 } });
    expect(broken.namespaces).toMatchObject([{ changes: [{ breaks: ["input.order: has to be given now: string", "input.id: is not taken any more", "output.status: is gone: string"] }] }]);
    expect(broken.programs).toMatchObject([{ runs: 2, errors: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining("status") as string })]) as unknown[] }]);
    expect(broken.workflows.map(({ severity }) => severity)).toContain("broken");
    expect(broken.policies).toMatchObject([{ severity: "error", message: expect.stringContaining("/id") as string }]);
    const [from] = history.moments("shop");
    expect((await toolChanges(second, { history, workflows: [], namespace: "shop", since: { digest: from?.digest.slice(7, 19) ?? "" } })).namespaces).toEqual(broken.namespaces);
    await expect(toolChanges(second, { history, workflows: [], namespace: "none" })).rejects.toMatchObject({ code: "USAGE" });
    await expect(toolChanges(second, { history, workflows: [], since: { digest: "00000000" } })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("a history is written where something has changed, and read past a line that was cut off", async () => {
    await open("two");
    const moments = history.moments("shop");
    expect(moments).toHaveLength(3);
    await open("two");
    expect(history.moments("shop")).toEqual(moments);
    const [folder = ""] = readdirSync(join(root, "state", "tool-history"));
    appendFileSync(join(root, "state", "tool-history", folder, "shop.jsonl"), '\n{"atMs":1,"set":[{"na');
    await open("one");
    expect(history.moments("shop").map(({ digest }) => digest)).toEqual([...moments.map(({ digest }) => digest), moments[0]?.digest]);
  });

  test("a history that cannot be written is told, and the gate is there", async () => {
    const faults: unknown[] = [];
    createToolHistory({ stateFolder: "/proc/none", folder: root, nowMs: () => 0, onFault: (fault) => void faults.push(fault) }).note("shop", []);
    expect(faults).toHaveLength(1);
    await Promise.resolve();
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "./config/load-config.ts";
import { createCallgate, defineInterceptor, defineTool } from "./index.ts";
import type { Interceptor } from "./index.ts";

async function openGate(interceptors: readonly Interceptor[]) {
  const folder = await mkdtemp(join(tmpdir(), "callgate-interceptors-"));
  const sent: unknown[] = [];
  const send = defineTool({ name: "send", description: "sends", effect: "write", input: { type: "object", properties: { to: { type: "string" } }, required: ["to"], additionalProperties: false }, handler: (args) => { sent.push(args); return { ok: true }; } });
  const gate = await createCallgate({ folder, stateFolder: folder, tools: { mail: [send] }, rules: [{ id: "all", allow: "*" }], interceptors });
  onTestFinished(async () => {
    await gate.close();
    await rm(folder, { recursive: true });
  });
  return { gate, sent };
}

const redirect = defineInterceptor<{ readonly to: string }>({ name: "redirect", tools: "mail.*", before: ({ args }) => (args.to === "stub" ? { kind: "answer", value: { ok: "stub" } } : { kind: "transform", args: { to: `staging+${args.to}` } }) });

test("a program's calls pass them, its record says what was performed, and its replay is equal", async () => {
  const { gate, sent } = await openGate([redirect]);
  const result = await gate.run('return [await tools.mail.send({ to: "ann" }), await tools.mail.send({ to: "stub" })]', { language: "javascript" });
  expect(result).toMatchObject({ status: "completed", value: { value: [{ ok: true }, { ok: "stub" }] }, calls: [{ effectStatus: "done" }, { effectStatus: "none" }] });
  expect(sent).toEqual([{ to: "staging+ann" }]);
  const entries = (await gate.runs.show(result.runId))?.entries ?? [];
  expect(entries.filter(({ kind }) => kind === "call-intercepted")).toMatchObject([{ by: "redirect", how: "transformed", args: { summary: { to: "staging+ann" } } }, { by: "redirect", how: "answered" }]);
  expect(entries.filter(({ kind }) => kind === "call-ended").map((entry) => "answeredBy" in entry)).toEqual([false, true]);
  const replayed = await gate.runs.replay(result.runId);
  expect([replayed.divergence, replayed.result.value, sent.length]).toMatchObject([undefined, { value: [{ ok: true }, { ok: "stub" }] }, 1]);
});

test("every event of a call that one stands before has the names and shapes that are printed", async () => {
  const { gate } = await openGate([redirect]);
  const seen: Record<string, readonly string[]> = {};
  const reading = (async () => {
    for await (const event of gate.events()) seen[event.kind] = Object.keys(event).sort();
  })();
  await gate.call("mail.send", { to: "ann" });
  await gate.call("mail.send", { to: "stub" });
  await gate.close();
  await reading;
  const call = ["atMs", "callId", "kind", "principal", "runId", "tool"];
  const scoped = (...more: readonly string[]): readonly string[] => [...call, ...more].sort();
  expect(seen).toMatchObject({
    "call-requested": scoped("effect", "args"),
    "call-decided": scoped("decision", "ruleId"),
    "call-intercepted": scoped("by", "how"),
    "call-started": scoped("attempt"),
    "call-ended": scoped("outcome", "effectStatus", "durationMs", "answeredBy"),
    "run-started": ["atMs", "kind", "principal", "runId", "runKind"],
    "run-ended": ["atMs", "durationMs", "kind", "principal", "runId", "status"],
  });
});

test("a TypeScript configuration gives them, and one that is wrong is refused with its place", async () => {
  const folder = await mkdtemp(join(tmpdir(), "callgate-interceptors-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "callgate.config.ts");
  await writeFile(file, 'import { defineConfig, defineInterceptor } from "callgate";\nexport default defineConfig({ interceptors: [defineInterceptor({ name: "no", before: () => ({ kind: "deny", reason: "closed" }) })] });\n');
  expect((await loadConfig(file)).config.interceptors).toMatchObject([{ name: "no" }]);
  await expect(createCallgate({ folder, stateFolder: folder, interceptors: [{ name: "idle" }] })).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("interceptors[0] (idle) does nothing") });
});

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate, defineTool } from "./index.ts";

const start = promisify(execFile);

test("br-019: a grant for three uses lets three calls through, with two processes that race for it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "callgate-grants-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const put = defineTool({ name: "put", description: "counts", effect: "write", input: { type: "object" }, handler: () => 0 });
  const gate = await createCallgate({ folder, stateFolder: folder, tools: { crm: [put] }, rules: [{ ask: "crm.put" }] });
  onTestFinished(() => gate.close());
  await gate.grants.add({ tool: "crm.put", args: { "/n": { gte: 0 } }, user: "ann", agent: "claude", maxUses: 3, expiresAtMs: Date.now() + 3_600_000, by: "bea" });
  const ran = await Promise.all([20, 20].map(async (calls) => (await start(process.execPath, ["--no-warnings", fileURLToPath(new URL("./fixtures/grant-process.ts", import.meta.url)), folder, String(calls)])).stdout));
  expect(ran.reduce((sum, text) => sum + Number(text), 0)).toBe(3);
  expect(await gate.grants.list()).toMatchObject([{ uses: 3, state: "spent" }]);
  expect(await gate.audit.verify()).toMatchObject({ ok: true, findings: [] });
}, 120_000);

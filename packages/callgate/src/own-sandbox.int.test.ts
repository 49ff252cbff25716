import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFunctionHandler, createHttpFunctionDriver } from "@callgate/sandbox-process";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { expect, test } from "vitest";
import { z } from "zod";
import { serveFunction } from "../../sandbox-process/src/fixtures/function-server.ts";
import { createCallgate, defineTool } from "./index.ts";

test("a sandbox of one's own runs the programs of its languages: checked, decided and recorded like any", async () => {
  const token = "a token of a test, 32 characters";
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-own-"));
  const inner = createQuickJsDriver({ workers: 1 });
  const server = await serveFunction(createFunctionHandler({ driver: inner, token }));
  const written: unknown[] = [];
  const save = defineTool({ name: "save", description: "Saves", effect: "write", input: z.object({ n: z.number() }), handler: ({ n }) => written.push(n) });
  const gate = await createCallgate({ stateFolder, tools: { store: [save] }, rules: [{ allow: "store.save", when: { args: { "/n": { lte: 2 } } } }], drivers: [await createHttpFunctionDriver({ url: server.url, token })] });
  try {
    const done = await gate.run('import { store } from "tools";\nconst a = await store.save({ n: 1 });\nconst b = await store.save({ n: 2 });\nreturn [a, b];');
    expect(done).toMatchObject({ status: "completed", value: { value: [1, 2] } });
    expect(written).toEqual([1, 2]);
    expect((await gate.runs.show(done.runId))?.run.driver).toBe("function");
    expect(await gate.run('import { store } from "tools";\nreturn await store.save({ n: "3" });')).toMatchObject({ status: "rejected" });
    expect(await gate.run('import { store } from "tools";\nreturn await store.save({ n: 3 });')).toMatchObject({ status: "failed", error: { code: "APPROVAL_UNAVAILABLE" } });
    const replayed = await gate.runs.replay(done.runId);
    expect([replayed.divergence, replayed.result.status]).toEqual([undefined, "completed"]);
    expect(written).toEqual([1, 2]);
  } finally {
    await gate.close();
    await server.close();
    await inner.close();
    rmSync(stateFolder, { recursive: true, force: true });
  }
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pagedOutput } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate } from "../create-callgate.ts";
import { replayRecording } from "./replay-recording.ts";

test("a program that goes through the pages of a tool is replayed from its recording, which knows that there are pages", async () => {
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-paged-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true }));
  const numbers = [1, 2, 3, 4, 5];
  const list = defineTool({
    name: "list",
    description: "Numbers, two at a time",
    effect: "read",
    paged: true,
    input: { type: "object", properties: { from: { type: "number" } } },
    output: pagedOutput({ type: "array", items: { type: "number" } }),
    handler: (args) => {
      const { from = 0 } = args as { from?: number };
      return { page: numbers.slice(from, from + 2), ...(from + 2 < numbers.length ? { next: { from: from + 2 } } : {}) };
    },
  });
  const gate = await createCallgate({ stateFolder, tools: { shop: [list] }, rules: [{ allow: "*" }] });
  onTestFinished(() => gate.close());
  const { runId, status } = await gate.run("let sum = 0; for await (const page of tools.shop.list.pages({})) for (const number of page) sum += number; return sum;");
  expect(status).toBe("completed");
  expect(await replayRecording(await gate.runs.recording(runId))).toMatchObject({ status: "completed", value: 15, calls: ["shop.list", "shop.list", "shop.list"], unused: [] });
});

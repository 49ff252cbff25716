import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBubblewrap, openCrmGate } from "./fixtures/crm-gate.ts";
import type { Gate } from "./index.ts";

const why = noBubblewrap === undefined ? "" : ` (skipped: ${noBubblewrap})`;

describe.skipIf(noBubblewrap !== undefined)(`sandboxDriver, through a gate${why}`, () => {
  let gate: Gate;
  let written: unknown[];
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ gate, written, close } = await openCrmGate());
  });
  afterAll(() => close());
  const python = (program: string, options = {}) => gate.run(program, { language: "python", ...options });

  test("a Python program calls the same tools through the same broker, and its files come back", async () => {
    const result = await python('```python\nfrom tools import crm\nc = crm.get_customer(id=7)\ncrm.rename(id=7, name=c["name"] + "!")\nopen("out/report.md", "w").write("# done")\nprint("seen", c["name"])\nc\n```');
    expect(result).toMatchObject({ status: "completed", value: { kind: "whole", value: { id: 7, name: "Ada" } }, console: [{ level: "log", text: "seen Ada" }] });
    expect(result.calls.map(({ tool, outcome, effectStatus }) => [tool, outcome, effectStatus])).toEqual([["crm.get_customer", "ok", "none"], ["crm.rename", "ok", "done"]]);
    expect(written).toEqual([{ id: 7, name: "Ada!" }]);
    expect(result.artifacts).toMatchObject([{ name: "report.md", sizeBytes: 6 }]);
    const [file] = result.artifacts;
    const read = file === undefined ? undefined : await gate.read(file.handle);
    expect(read?.kind === "artifact" && Buffer.from(read.bytes).toString()).toBe("# done");
  });

  test("wrong arguments, an unknown tool and the query lane are refused by the broker, at the model's own line", async () => {
    expect(await python("from tools import crm; import json\nwrong = json.loads('{\"id\": \"x\"}')\ncrm.get_customer(**wrong)")).toMatchObject({ status: "failed", error: { code: "INVALID_INPUT", tool: "crm.get_customer", line: 3 } });
    expect((await python("from tools import crm\ncrm.rename(id=1, name='q')", { lane: "query" })).status).not.toBe("completed");
    expect(written).toHaveLength(1);
  });

  test("wallMs ends a program that waits, what it printed is kept", async () => {
    const result = await python("print('partial')\nimport time\ntime.sleep(60)", { limits: { wallMs: 2_500 } });
    expect(result).toMatchObject({ status: "limit", console: [{ text: "partial" }] });
  });

  test("a shell program runs; its exit code is its error", async () => {
    expect(await gate.run("echo hi; exit 3", { language: "shell" })).toMatchObject({ status: "failed", console: [{ text: "hi" }], error: { code: "EXIT_CODE", details: { exitCode: 3 } } });
  });

  test("a replay of a Python run says that it cannot be", async () => {
    const { runId } = await python("1");
    await expect(gate.runs.replay(runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
  });
});

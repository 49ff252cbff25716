// What an example imports as `callgate` under export-hook.mjs: the same, but a gate that closes writes its runs as tests to
// EXPORT_FOLDER first.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCallgate as open } from "../../packages/callgate/src/index.ts";
import type { CallgateOptions, Gate } from "../../packages/callgate/src/index.ts";
import { recordingTest } from "../../packages/callgate/src/recording/recording-test.ts";

export * from "../../packages/callgate/src/index.ts";

const folder = process.env["EXPORT_FOLDER"] ?? ".";

export async function createCallgate(options?: CallgateOptions): Promise<Gate> {
  const gate = await open(options);
  const close = async (): Promise<void> => {
    await exportRuns(gate);
    await gate.close();
  };
  return new Proxy(gate, { get: (target, key) => (key === "close" ? close : (Reflect.get(target, key) as unknown)) });
}

async function exportRuns(gate: Gate): Promise<void> {
  const runs = (await gate.runs.list({ limit: 1_000 })).filter(({ kind, edits }) => kind === "program" && edits === undefined);
  for (const { runId, status, language } of runs) {
    const tell = (what: string): void => appendFileSync(join(folder, "told.jsonl"), `${JSON.stringify({ runId, status, language, what })}\n`);
    try {
      const recording = await gate.runs.recording(runId);
      writeFileSync(join(folder, `${runId}.test.ts`), recordingTest(recording));
      tell("exported");
    } catch (fault) {
      tell(fault instanceof Error ? `${"code" in fault ? String(fault.code) : fault.name}: ${fault.message}` : "failed");
    }
  }
}

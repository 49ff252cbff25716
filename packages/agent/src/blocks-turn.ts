import { extractCodeBlocks } from "@callgate/runtime/executor";
import type { AgentRun } from "./agent-run.ts";
import { inTime, reportOf } from "./carry-out.ts";
import type { CarriedOut } from "./carry-out.ts";
import type { Ending } from "./finish.ts";
import type { ModelTurn } from "./model/model-turn.ts";
import { countRepair } from "./repair.ts";
import { blockName } from "./settle-calls.ts";
import { textTurn } from "./text-turn.ts";
import { runShown } from "./tools/code-tools.ts";
import type { GateCalls } from "./tools/gate-calls.ts";

/**
 * A turn in mode `blocks`: the code of this answer, and of no other message, is run block by block until one does not end
 * well. What it printed and returned is the next message. An answer without code is the last.
 */
export async function blocksTurn(run: AgentRun, calls: GateCalls, turn: ModelTurn): Promise<Ending | undefined> {
  const { languages = ["typescript"] } = run.setup.options;
  const { blocks } = extractCodeBlocks(turn.text, { languages });
  if (blocks.length === 0) return await textTurn(run, turn);
  const unclosed = blocks.find((block) => block.unclosed);
  if (unclosed !== undefined) return await told(run, `The code block of line ${unclosed.line - 1} is never closed, so nothing was run. Write it again, whole.`, "A code block was never closed");

  const done: CarriedOut[] = [];
  for (const [index, block] of blocks.entries()) {
    const callId = `turn${run.meter.usage.turns}_block${index + 1}`;
    const startedMs = run.clock.monotonic();
    const key = JSON.stringify([run.setup.name, block.language, block.code]);
    const before = run.refusals.get(key);
    const answer = before === undefined ? await inTime(run, (at) => runShown(calls, block, at), callId) : { status: "not_executed" as const, text: before, effectStatus: "none" as const, runIds: [] };
    if (answer.status === "not_executed") run.refusals.set(key, answer.text);
    done.push({ call: { callId, name: blockName }, tool: block.language, answer, durationMs: run.clock.monotonic() - startedMs });
    if (answer.status !== "ok") break;
  }
  return await settleBlocks(run, done, blocks.length - done.length);
}

async function settleBlocks(run: AgentRun, done: readonly CarriedOut[], notRun: number): Promise<Ending | undefined> {
  run.meter.addCalls(done.map(reportOf), {
    effects: { done: done.flatMap(({ answer }) => answer.effects?.done ?? []), unknown: done.flatMap(({ answer }) => answer.effects?.unknown ?? []) },
    microUsd: done.reduce((sum, { answer }) => sum + (answer.microUsd ?? 0), 0),
  });
  const last = done.at(-1);
  const ended = done.filter(({ answer }) => answer.waiting === undefined);
  const text = [...ended.map(({ answer, tool }, index) => `Block ${index + 1} (${tool}):\n${answer.text}`), ...(notRun === 0 ? [] : [`${notRun === 1 ? "One block was" : `${notRun} blocks were`} not run, because the one before did not end well.`])].join("\n\n");
  if (text !== "") run.session.messages.push({ role: "user", content: [{ type: "text", text }] });
  if (last?.answer.waiting !== undefined) {
    run.session.open = [{ callId: last.call.callId, name: blockName, waiting: last.answer.waiting }];
    return { stop: { kind: "suspended", waits: [last.answer.waiting] } };
  }
  const isBad = last?.answer.status === "invalid" || last?.answer.status === "failed";
  run.meter.erred(isBad && done.length === 1);
  if (!isBad) {
    run.repairs = [];
    return undefined;
  }
  return await countRepair(run, `${last.tool}: ${last.answer.text}`);
}

async function told(run: AgentRun, text: string, reason: string): Promise<Ending | undefined> {
  run.session.messages.push({ role: "user", content: [{ type: "text", text }] });
  return await countRepair(run, reason);
}

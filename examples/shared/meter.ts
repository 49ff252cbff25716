import type { Gate, RunResult } from "callgate";
import { createLazyTokenCounter } from "callgate";

/** What one way of doing the work costs a model, in o200k tokens. */
export interface Cost {
  readonly turns: number;
  /** What the model has in front of it at its last turn. */
  readonly contextTokens: number;
  /** What it reads over all turns together. */
  readonly inputTokens: number;
}

export interface Meter {
  /** Calls that reached a tool. */
  readonly calls: number;
  readonly durationMs: number;
  /** Measured: what the model was sent. `isEstimated`: counted from the texts, for it is a script and does not say. */
  readonly here: Cost & { readonly isEstimated: boolean };
  /** Reckoned: each call one of the model's own, eight a turn. */
  readonly direct: Cost;
}

/** As many calls as an agent has under way at once. */
const callsPerTurn = 8;

interface Spent extends Omit<Meter, "direct"> {
  readonly task: string;
  /** Runs in which tools were called. */
  readonly runIds: readonly string[];
}

/**
 * What the work cost, and what it would have cost with each call as a turn's own: there the definitions of all tools are sent
 * with every turn, and arguments and results stay in the context. That is the best case of direct calls: no call depends on
 * another of its turn, and none goes wrong.
 */
export async function readMeter(gate: Gate, { task, runIds, ...spent }: Spent): Promise<Meter> {
  const counter = await createLazyTokenCounter().load();
  const fixed = counter.count(definitionsText(gate)) + counter.count(task);
  const runs = await Promise.all(runIds.map(async (runId) => (await gate.runs.show(runId))?.run.tokens?.direct ?? 0));
  const carried = runs.reduce((sum, tokens) => sum + tokens, 0);
  const turns = Math.ceil(spent.calls / callsPerTurn) + 1;
  return { ...spent, direct: { turns, contextTokens: fixed + carried, inputTokens: Math.round(turns * fixed + (carried * turns) / 2) } };
}

export function meterText({ calls, durationMs, here, direct }: Meter): string {
  const line = (what: string, a: number, b: number): string => `  ${what.padEnd(34)} ${String(a).padStart(11)} ${String(b).padStart(11)}`;
  return [
    `  ${"".padEnd(34)}      direct  ${here.isEstimated ? "here (about)" : "        here"}`,
    line("turns of the model", direct.turns, here.turns),
    line("tokens of the last turn's context", direct.contextTokens, here.contextTokens),
    line("tokens in, over all turns", direct.inputTokens, here.inputTokens),
    `  ${calls} calls of tools in ${(durationMs / 1_000).toFixed(1)} s; direct is reckoned: ${callsPerTurn} calls a turn, none of them wrong`,
  ].join("\n");
}

/** Prints what the model would have carried in one run without an agent: every definition, arguments and result, against the declarations, the program and what it returned. */
export async function printRunMeter(gate: Gate, result: RunResult): Promise<void> {
  const counter = await createLazyTokenCounter().load();
  const definitions = counter.count(definitionsText(gate));
  const declarations = counter.count(gate.declarations());
  const { program, result: returned, direct } = result.tokens;
  const line = (what: string, a: number, b: number) => console.log(`  ${what.padEnd(34)} ${String(a).padStart(7)} ${String(b).padStart(7)}`);
  console.log(`  ${"tokens the model carries".padEnd(34)}  direct    here`);
  line("tool definitions · declarations", definitions, declarations);
  line("arguments and results · program", direct, program);
  line("what the run returned", 0, returned);
  line("in all, once", definitions + direct, declarations + program + returned);
  console.log(`  (as direct calls this context is sent again on each of ${result.calls.length} turns)\n`);
}

function definitionsText(gate: Gate): string {
  return JSON.stringify(gate.tools().map(({ name, spec }) => ({ name, description: spec.description, inputSchema: spec.input })));
}

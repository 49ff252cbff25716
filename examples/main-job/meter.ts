import type { Gate, RunResult } from "callgate";
import { createLazyTokenCounter } from "callgate";

/**
 * Prints what the model would have carried, o200k tokens. Direct calls: every definition, arguments and result. Here: the
 * declarations of the catalog, the program, and what the run returned.
 */
export async function printMeter(gate: Gate, result: RunResult): Promise<void> {
  const counter = await createLazyTokenCounter().load();
  const definitions = counter.count(JSON.stringify(gate.tools().map(({ name, spec }) => ({ name, description: spec.description, inputSchema: spec.input }))));
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

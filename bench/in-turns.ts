// Gates beside each other: the same program in each, in turns, so that the ratios hold on a busy machine too.
import type { Gate } from "@callgate/contract";
import { median } from "./median.ts";

const calls = 300;

/** Prints the CPU time of a call in each gate, and its ratio to that in the first. @param args of the tool `bench.get`, in words of the program; `n` counts */
export async function printInTurns(title: string, gates: ReadonlyMap<string, Gate>, args = "{ n }"): Promise<void> {
  const program = `let n = 0; for (; n < ${calls}; n++) await tools.bench.get(${args}); return n`;
  const round = async (gate: Gate, name: string): Promise<number> => {
    const before = process.cpuUsage();
    const result = await gate.run(program, { language: "javascript" });
    if (result.status !== "completed") throw new Error(`${name}: ${result.error?.message ?? ""}`);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / calls;
  };
  const found = new Map([...gates].map(([name, gate]) => [name, { gate, took: [] as number[] }]));
  for (const [name, { gate }] of found) for (let n = 0; n < 3; n++) await round(gate, name);
  for (let n = 0; n < 15; n++) for (const [name, { gate, took }] of found) took.push(await round(gate, name));
  const [first] = [...found.values()].map(({ took }) => median(took));
  const width = Math.max(...[...found.keys()].map((name) => name.length)) + 2;
  console.log(title);
  for (const [name, { took }] of found) console.log(`${name.padEnd(width)}${median(took).toFixed(3)}  ${(median(took) / (first ?? Number.NaN)).toFixed(2)}×`);
}

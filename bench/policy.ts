// What a policy costs: 1,000 policies, of which few can match; a decision that looks at all of them beside one that looks
// at those; and a call of a warm gate without rules, with rules that never look at the call, and with some that do. They
// take turns, so that the ratios hold on a busy machine too; read those. CPU time of the whole process.
// `node bench/policy.ts`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, defineTool, localPrincipal } from "callgate";
import type { PolicyRule } from "callgate";
import { createCedarPolicy } from "@callgate/policy-cedar";
import { median } from "./median.ts";


function cpuMs(times: number, work: (n: number) => void): number {
  const before = process.cpuUsage();
  for (let n = 0; n < times; n++) work(n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / times;
}

const names = Array.from({ length: 1_000 }, (_, n) => `ns${n % 50}.tool_${n}`);
const many: readonly PolicyRule[] = names.map((tool, n): PolicyRule => (n % 2 === 0 ? { allow: tool, when: { role: `role${n % 7}`, args: { "/amount": { lte: n } } } } : { deny: { namespace: `ns${n % 50}`, effect: "destructive" }, unless: { role: "admin" } }));
const tool = (name: string) => defineTool({ name, description: "bench", effect: "read", input: { type: "object" }, handler: (args: unknown) => args });
const spec = tool("tool_2");
const principal = { ...localPrincipal, roles: ["role2"] };
const ask = (policy: ReturnType<typeof createCedarPolicy>) => (n: number) => void policy.decide({ principal, tool: "ns2.tool_2", namespace: "ns2", spec, args: { amount: n % 5 }, lane: "execute", runId: "r", callsBefore: n, taint: [], atMs: n });

const [few, all] = [createCedarPolicy({ rules: many }), createCedarPolicy({ rules: many, sliced: false })];
ask(few)(0);
ask(all)(0);
const turns = Array.from({ length: 5 }, () => ({ few: cpuMs(300, ask(few)), all: cpuMs(30, ask(all)) }));
const [sliced, unsliced] = [median(turns.map((turn) => turn.few)), median(turns.map((turn) => turn.all))];
console.log(`1,000 policies, CPU ms a decision: ${sliced.toFixed(3)} over those that can match, ${unsliced.toFixed(3)} over all: ratio ${(sliced / unsliced).toFixed(3)}`);
const fresh = createCedarPolicy({ rules: many });
const first = cpuMs(200, (n) => void fresh.decide({ principal: { ...principal, user: `u${n}` }, tool: "ns2.tool_2", namespace: "ns2", spec, args: { amount: 1 }, lane: "execute", runId: "r", callsBefore: 0, taint: [], atMs: 0 }));
console.log(`the first decision of a caller about a tool, among 1,000 policies: ${first.toFixed(3)} CPU ms`);

const folder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const open = (name: string, rules: PolicyRule[]) => createCallgate({ stateFolder: join(folder, name), tools: { bench: [tool("get")] }, rules });
const gates = { none: await open("none", []), fixed: await open("fixed", [{ allow: "bench.*" }]), args: await open("args", [{ allow: "bench.*", when: { args: { "/n": { gte: 0 } } } }]) };
const program = "let n = 0; for (; n < 300; n++) await tools.bench.get({ n }); return n";
const round = async (gate: (typeof gates)["none"]): Promise<number> => {
  const before = process.cpuUsage();
  const { status } = await gate.run(program, { language: "javascript" });
  if (status !== "completed") throw new Error(status);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / 300;
};
try {
  for (const gate of Object.values(gates)) for (let n = 0; n < 3; n++) await round(gate);
  const rounds: Record<keyof typeof gates, number[]> = { none: [], fixed: [], args: [] };
  for (let n = 0; n < 15; n++) for (const [name, gate] of Object.entries(gates)) rounds[name as keyof typeof gates].push(await round(gate));
  const [none, fixed, args] = [median(rounds.none), median(rounds.fixed), median(rounds.args)];
  console.log(`CPU ms a call of a program: ${none.toFixed(3)} without rules; ${fixed.toFixed(3)} (${(fixed / none).toFixed(2)}×) with rules that do not look at the call; ${args.toFixed(3)} (${(args / none).toFixed(2)}×) with one that does`);
} finally {
  for (const gate of Object.values(gates)) await gate.close();
  rmSync(folder, { recursive: true, force: true });
}

// What the six job examples cost a model that calls their tools one by one, all at once, or by a program, and what it costs
// where it goes badly. The program of each example is run once and its calls are noted; then the agent's loop makes them in
// each way, in a fresh world, whose end state is looked at. `node checks/full/tokens-of-examples.mjs [NAME...]`
import { createAgent, scriptedModel } from "../../packages/callgate/src/index.ts";
import { createEvalGates } from "../../packages/callgate/src/eval/eval-gates.ts";
import { inWorld } from "../../examples/shared/run-job.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";
import { tokensOf, tokensOfTasks, ways } from "./ways-of-working.ts";

const names = ["main-job", "backfill-records", "find-the-fault", "weekly-report", "reviewed-content", "data-analysis"];
const wanted = process.argv.slice(2);
const gates = createEvalGates();
/** A client without a gate shows its model all that a tool answers. */
const whole = { resultTokens: 10_000_000, historyTokens: 100_000_000, tokens: 1_000_000_000, turns: 1_000, toolCalls: 10_000, errors: 1_000, repairs: 1_000 };

/** The calls of the example's own program, as they were made; calls of an agent behind a tool are its own. */
async function noted(job) {
  const calls = [];
  const note = { name: "note", before: ({ tool, args, principal }) => void (principal.agent === undefined && calls.push({ tool, input: args })) };
  const openGate = (options, folder) => gates.open({ ...options, interceptors: [note] }, folder);
  await inWorld(job, { openGate }, async (world) => {
    const { gate, program } = world;
    const { status, error } = await gate.run(program);
    const unmet = (await world.check()).filter(({ ok }) => !ok);
    if (status !== "completed" || unmet.length > 0) throw new Error(`${job.name}: its program ${status}: ${error?.message ?? JSON.stringify(unmet)}`);
  });
  // Python that is called as a tool is a program again.
  return calls.filter(({ tool }) => tool !== "python.run");
}

function workOf(calls, program) {
  const [first] = calls;
  const name = first.tool.split(".")[1];
  return { calls, program: () => program, wrongProgram: (attempt) => program.replace(`${name}(`, `${name}${"s".repeat(attempt)}(`).replace(`${name}.`, `${name}${"s".repeat(attempt)}.`) };
}

const rows = [];
const notes = [];
for (const name of names.filter((one) => wanted.length === 0 || wanted.includes(one))) {
  const { job } = await import(`../../examples/${name}/job.ts`);
  const told = {};
  try {
    const calls = await noted(job);
    for (const [way, { mode, limits, turns }] of Object.entries(ways)) {
      await inWorld(job, { openGate: (options, folder) => gates.open(options, folder) }, async (world) => {
        const { gate, program } = world;
        const model = scriptedModel(turns(workOf(calls, program)));
        const agent = createAgent({ name: "subject", model, gate, mode, limits: { ...whole, ...limits, ...(mode === "code" ? { resultTokens: 2_000 } : {}) } });
        const { stop } = await agent.run(job.task);
        const unmet = (await world.check()).filter(({ ok }) => !ok).map(({ what }) => what);
        const sent = model.asked.map(tokensOf);
        told[way] = { turns: sent.length, end: sent.at(-1) ?? 0, read: sent.reduce((sum, count) => sum + count, 0) };
        if (stop.kind !== "answered") notes.push(`- ${name}, ${way}: ended with ${stop.kind}`);
        if (unmet.length > 0) notes.push(`- ${name}, ${way}: the end state is not reached: ${unmet.join("; ")}`);
      });
      console.log(name, way, told[way]);
    }
    const direct = told["one by one"];
    if (direct !== undefined) rows.push(...Object.entries(told).map(([way, { turns, end, read }], index) => [index === 0 ? `${name} (${calls.length} calls)` : "", way, turns, end, read, (read / direct.read).toFixed(2)]));
  } catch (fault) {
    notes.push(`- ${name} was not counted: ${fault instanceof Error ? fault.message : String(fault)}`);
    console.error(fault);
  }
}
await gates[Symbol.asyncDispose]();

const text = [
  measured(`node checks/full/tokens-of-examples.mjs${wanted.length === 0 ? "" : ` ${wanted.join(" ")}`}`),
  "The six [job examples](../guide/agent.md#whole-jobs) in the size that their commands have, o200k tokens of what the model is sent. The calls are those of the example's\nown program; called directly, each answer is in the context whole, as clients show it. Above 1.00 a program loses.",
  markdownTable(["example", "way", "turns", "context at the end", "read over all turns", "÷ one by one"], rows),
  ...(notes.length === 0 ? [] : [notes.join("\n")]),
].join("\n\n");
console.log(text);
if (wanted.length === 0) writeSection({ page: "tokens-of-tasks.md", intro: tokensOfTasks, section: "examples", text });

// What a model carries with direct calls and with programs, in o200k tokens: `node bench/tokens.ts`. Tasks of 1, 3 and 20
// calls before a catalog of 4 tools, and of 3 and 20 calls before one of 500. `--write` writes docs/results/tokens.md.
//
// Counted is what a client really gets: the definitions of the MCP surface, answers of its tools, results of real runs.
// Nothing here depends on the machine, so the page says the same everywhere.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localPrincipal } from "@callgate/contract";
import { createCallgate, createLazyTokenCounter, defineTool } from "callgate";
import type { Gate, Tool } from "callgate";
import { z } from "zod";
import { surfaceText } from "../packages/runtime/src/surface.ts";
import { toolDefinitions } from "../packages/mcp-server/src/tool-definitions.ts";
import { toolHandlers } from "../packages/mcp-server/src/tool-handlers.ts";

const counter = await createLazyTokenCounter().load();
const tokens = (value: unknown): number => counter.count(typeof value === "string" ? value : JSON.stringify(value));

const customer = z.object({ id: z.string(), name: z.string(), email: z.string(), city: z.string(), plan: z.enum(["free", "team", "enterprise"]), seats: z.number(), notes: z.string() });
const orders = z.array(z.object({ order_id: z.string(), sku: z.string(), amount: z.number(), status: z.enum(["open", "paid", "sent"]) }));
const own: readonly Tool[] = [
  defineTool({ name: "get_customer", description: "One customer by id, with plan, seats and notes", effect: "read", input: z.object({ id: z.string().describe("As in the CRM, e.g. c-7") }), output: customer, handler: ({ id }) => ({ id, name: `Customer ${id}`, email: `${id}@example.com`, city: "Utrecht", plan: "team" as const, seats: 12, notes: "Asked about invoices by mail in May; prefers to be called in the morning. ".repeat(4) }) }),
  defineTool({ name: "list_orders", description: "Orders of a customer, newest first", effect: "read", input: z.object({ customer_id: z.string(), limit: z.number().int().max(100).optional() }), output: orders, handler: ({ customer_id, limit = 10 }) => Array.from({ length: limit }, (_, index) => ({ order_id: `o-${customer_id}-${index}`, sku: `sku-${index % 7}`, amount: 10 + index, status: index % 3 === 0 ? ("open" as const) : ("paid" as const) })) }),
  defineTool({ name: "exchange_rate", description: "Today's rate between two currencies", effect: "read", input: z.object({ from: z.string().length(3), to: z.string().length(3) }), output: z.number(), handler: () => 1.09 }),
  defineTool({ name: "count_customers", description: "How many customers there are on a plan", effect: "read", input: z.object({ plan: z.enum(["free", "team", "enterprise"]) }), output: z.number(), handler: () => 48 }),
];
const others: Readonly<Record<string, readonly Tool[]>> = Object.fromEntries(
  Array.from({ length: 31 }, (_, space) => [
    `service_${space}`,
    Array.from({ length: 16 }, (_unused, index) => defineTool({ name: `${["list", "get", "create", "update"][index % 4]}_${["issue", "invoice", "page", "event"][Math.floor(index / 4)]}_${space}`, description: `Works on records of service ${space}: reads or changes what it keeps under this name`, effect: index % 4 < 2 ? "read" : "write", input: z.object({ id: z.string().describe("Id of the record"), filter: z.object({ status: z.enum(["open", "closed"]).optional(), since: z.string().optional() }).optional(), limit: z.number().optional() }), output: z.object({ id: z.string(), title: z.string(), status: z.string() }), handler: ({ id }) => ({ id, title: "", status: "open" }) })),
  ]),
);

interface Task {
  readonly name: string;
  /** Calls a model makes one after the other; those in one list at once. */
  readonly turns: readonly (readonly (readonly [tool: string, args: object])[])[];
  readonly program: string;
  readonly answer: string;
}

const ids = Array.from({ length: 20 }, (_, index) => `c-${index}`);
const tasks: readonly Task[] = [
  { name: "1 call", turns: [[["crm.count_customers", { plan: "team" }]]], program: 'import { crm } from "tools";\nreturn await crm.count_customers({ plan: "team" });', answer: "There are 48." },
  {
    name: "3 calls, each on the one before",
    turns: [[["crm.get_customer", { id: "c-7" }]], [["crm.list_orders", { customer_id: "c-7", limit: 20 }]], [["crm.exchange_rate", { from: "EUR", to: "USD" }]]],
    program: 'import { crm } from "tools";\nconst customer = await crm.get_customer({ id: "c-7" });\nconst orders = await crm.list_orders({ customer_id: customer.id, limit: 20 });\nconst rate = await crm.exchange_rate({ from: "EUR", to: "USD" });\nconst open = orders.filter((order) => order.status === "open");\nreturn { name: customer.name, open: open.length, usd: open.reduce((sum, order) => sum + order.amount, 0) * rate };',
    answer: "Customer c-7 has 7 open orders worth 144.97 dollars.",
  },
  {
    name: "20 calls at once",
    turns: [ids.map((id) => ["crm.list_orders", { customer_id: id, limit: 50 }] as const)],
    program: `import { crm } from "tools";\nconst ids = ${JSON.stringify(ids)};\nconst lists = await Promise.all(ids.map((id) => crm.list_orders({ customer_id: id, limit: 50 })));\nreturn lists.map((orders, index) => ({ id: ids[index], open: orders.filter((order) => order.status === "open").length }));`,
    answer: "Each of the twenty has 17 open orders.",
  },
];

/** Tokens of one way to do a task. */
interface Carried {
  /** What stands before every turn. */
  readonly definitions: number;
  /** What turns add, in order: written by the model and answered to it. */
  readonly added: readonly number[];
}

/** In the context at the end, and read in all: every turn reads what was there before it. */
function sums({ definitions, added }: Carried, answer: string): { readonly once: number; readonly read: number } {
  const once = definitions + added.reduce((sum, part) => sum + part, 0) + tokens(answer);
  let [context, read] = [definitions, 0];
  for (const part of [...added, 0]) {
    read += context;
    context += part;
  }
  return { once, read };
}

async function direct(gate: Gate, { turns }: Task): Promise<Carried> {
  const definitions = tokens(gate.tools().map(({ name, spec }) => ({ name, description: spec.description, inputSchema: spec.input })));
  const added: number[] = [];
  for (const calls of turns) {
    let part = 0;
    for (const [tool, args] of calls) {
      const { outcome } = await gate.call(tool, args, { budgetTokens: 100_000 });
      if (outcome.kind !== "ok") throw new Error(`${tool} ended ${outcome.kind}`);
      part += tokens({ name: tool, arguments: args }) + tokens(outcome.value);
    }
    added.push(part);
  }
  return { definitions, added };
}

async function asProgram(gate: Gate, { program }: Task): Promise<Carried & { readonly metered: string }> {
  const surface = surfaceText(gate, localPrincipal);
  const definitions = tokens(toolDefinitions({ descriptions: surface.descriptions, structured: false })) + tokens(surface.instructions);
  const request = { gate, principal: localPrincipal, conversation: "c", canAsk: false, signal: new AbortController().signal };
  const added: number[] = [];
  if (!surface.inlined) {
    const query = { query: "customer orders", limit: 5, detail: "signature" as const };
    added.push(tokens({ name: "search_tools", arguments: query }) + tokens((await toolHandlers.search_tools(query, request)).text));
  }
  const answered = await toolHandlers.execute_code({ code: program }, request);
  if (answered.isError === true) throw new Error(answered.text);
  added.push(tokens({ name: "execute_code", arguments: { code: program } }) + tokens(answered.text));
  const { tokens: meter } = await gate.run(program);
  return { definitions, added, metered: `${meter.program + meter.result} here, ${meter.direct} direct` };
}

const stateFolder = mkdtempSync(join(tmpdir(), "callgate-tokens-"));
const lines: string[] = [];
for (const [catalog, tools, wanted] of [["4 tools", { crm: own }, tasks], ["500 tools", { crm: own, ...others }, tasks]] as const) {
  const gate = await createCallgate({ stateFolder, tools });
  await gate.ready();
  for (const task of wanted) {
    const [calls, code] = [await direct(gate, task), await asProgram(gate, task)];
    const [a, b] = [sums(calls, task.answer), sums(code, task.answer)];
    const cells = [catalog, task.name, calls.definitions, code.definitions, a.once, b.once, a.read, b.read, (b.read / a.read).toFixed(2), code.metered];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  await gate.close();
}
rmSync(stateFolder, { recursive: true });

const head = ["catalog", "task", "definitions, direct", "definitions, code", "context at the end, direct", "context at the end, code", "read over all turns, direct", "read over all turns, code", "code ÷ direct", "the meter of the run"];
const table = [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...lines].join("\n");
console.log(table);
if (process.argv.includes("--write")) {
  writeFileSync(
    "docs/results/tokens.md",
    `# Tokens, direct calls and programs

o200k tokens, counted by \`node bench/tokens.ts\`: the definitions and answers an MCP client really gets, for the same task
done with one tool call after the other and with one program. A turn reads all that was in the context before it, so what
counts on a bill is *read over all turns*. Text form only: a client that shows its model the structured content as well pays
for the answers twice ([decision 2](../decisions/0002-mcp-results-twice.md)).

${table}

Published tasks, one by one and by a program, where it goes well and where it goes badly: [tokens of tasks](tokens-of-tasks.md).

**Where programs lose.** With a handful of tools and one call, or a few whose results are small, the six definitions of the
gate cost more than the tools' own: call those directly (\`call_tool\`, or the server itself). Programs win where results are
large, where there are many calls, and where there are many tools: what passes from tool to tool is not read by the model,
and the surface does not grow.

**The meter.** \`RunResult.tokens\` counts the program, what the run showed, and the arguments and results of its calls as
direct calls. It counts no definitions and no repeated reading, for neither side: those depend on the client.
`,
  );
}

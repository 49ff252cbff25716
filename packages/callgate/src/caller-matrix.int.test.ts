import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadDenoSandbox } from "./deno-sandbox.ts";
import { as, createCallerWorld } from "./fixtures/caller-world.ts";
import { noBubblewrap } from "./fixtures/crm-gate.ts";
import type { Gate, RunOptions } from "./index.ts";

/** What is called, with which arguments, how often one after the other, what a person says to it, and how a call ends that way. */
interface Column {
  readonly tool: string;
  readonly args?: object;
  readonly times?: number;
  readonly says?: "yes" | "no";
  /** Left out: it does not end, but waits for a person. */
  readonly end?: string;
}

const columns: Readonly<Record<string, Column>> = {
  allow: { tool: "allowed", end: "ok" },
  "ask: it writes": { tool: "writes" },
  "ask: a rule about a read": { tool: "looks" },
  "ask: it destroys": { tool: "drops" },
  "a write, answered yes": { tool: "writes", says: "yes", end: "ok" },
  "a read, answered yes": { tool: "looks", says: "yes", end: "ok" },
  "a destruction, answered yes": { tool: "drops", says: "yes", end: "ok" },
  "a write, answered no": { tool: "writes", says: "no", end: "denied" },
  deny: { tool: "denied", end: "denied" },
  "over limit: one is free": { tool: "limited", times: 2, end: "limit_exceeded" },
  "bad input": { tool: "allowed", args: { amount: "much" }, end: "invalid_input" },
};

// How often the tool's own code ran, written down and not computed. `parallel` calls three times at once, and each has a
// question of its own; the tools of `retry` fail at their first attempt, and a second one that is over the limit is not made.
//                                        allow  ask: w  r  d   yes: w  r  d    no  deny  limit  bad
const performed: Readonly<Record<string, readonly number[]>> = {
  "direct call":                        [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "program in TypeScript":              [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "program in JavaScript, looks it up": [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "program in Python, bubblewrap":      [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "program in Python, Pyodide":         [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "MCP client, legacy era":             [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "MCP client, modern era":             [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "MCP client, reading lane":           [   0,       0, 0, 0,       0, 1, 0,    0,    0,     0,   0 ],
  "MCP client, names it as a tool":     [   0,       0, 0, 0,       0, 0, 0,    0,    0,     0,   0 ],
  "nested in parallel":                 [   3,       0, 0, 0,       3, 3, 3,    0,    0,     1,   0 ],
  "nobody waits for it":                [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "retry":                              [   2,       0, 0, 0,       2, 2, 2,    0,    0,     1,   0 ],
  "resumed, twice":                     [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
  "handle-passing":                     [   1,       0, 0, 0,       1, 1, 1,    0,    0,     1,   0 ],
};

/** Their calls do not come as far as the gate's decision. */
const stopsBefore = ["MCP client, reading lane", "MCP client, names it as a tool"];
/** Who is answered while they wait; the others are suspended, and resumed once they are answered. */
const waiting = ["direct call", "program in Python, bubblewrap", "program in Python, Pyodide"];
const deno = await (await loadDenoSandbox())?.createDenoLauncher().probe();
const skipped: Readonly<Record<string, string | undefined>> = {
  "program in Python, bubblewrap": noBubblewrap,
  "program in Python, Pyodide": deno?.kind === "ready" ? undefined : "needs @callgate/sandbox-deno",
};

const world = createCallerWorld();
const { seen } = world;
let gate: Gate;
let inDeno: Gate;
let clients: Readonly<Record<"legacy" | "modern", Client>>;
beforeAll(async () => {
  gate = await world.open({ launcher: "bubblewrap" });
  inDeno = await world.open({ launcher: deno?.kind === "ready" ? "deno" : "bubblewrap" });
  // Checkers and engines are made ready before anything has a deadline.
  await gate.run("return 1");
  for (const [name, one] of [["program in Python, bubblewrap", gate], ["program in Python, Pyodide", inDeno]] as const) if (skipped[name] === undefined) await one.run("1", { language: "python" });
  clients = { legacy: await world.connect(gate, "legacy", "MCP client, legacy era"), modern: await world.connect(gate, "modern", "MCP client, modern era") };
}, 300_000);
afterAll(() => world.close());
beforeEach(() => world.clear());

/** Reaches for the tool, and says which gate it went through. */
type Caller = (cell: Required<Pick<Column, "tool" | "args" | "times">> & Pick<Column, "says">) => Promise<Gate>;

/** A program that calls one after the other, whatever comes of each. */
const script = (target: string, args: string, times: number): string => `for (let i = 0; i < ${times}; i += 1) { try { await ${target}(${args}) } catch {} }\n`;
const parsed = (args: object): string => `JSON.parse('${JSON.stringify(args)}')`;

function program(user: string, write: (cell: Parameters<Caller>[0]) => string, options: RunOptions = { language: "javascript" }): Caller {
  return async (cell) => {
    await gate.run(write(cell), { ...options, principal: as(user) });
    return gate;
  };
}

/** For who waits for an answer as long as their caller does: it comes meanwhile, and without one the caller gives up. */
async function whileAsked(through: Gate, says: Column["says"], reach: (signal: AbortSignal) => Promise<unknown>): Promise<Gate> {
  const stop = new AbortController();
  const answers: Promise<unknown>[] = [];
  const unlisten = through.onEvent((event) => {
    if (event.kind !== "approval-asked") return;
    if (says === undefined) stop.abort();
    else answers.push(through.approvals.answer(event.question.approvalId, { approved: says === "yes", by: "somebody else" }, { principal: event.principal }));
  });
  await reach(stop.signal);
  await Promise.all(answers);
  unlisten();
  return through;
}

// The state of a Python process is not made anew from a record, so that it is not suspended but waits.
const python = (user: string, on: () => Gate): Caller => ({ tool, args, times, says }) => {
  const calls = `import json\nfrom tools import bank\nfor i in range(${times}):\n    try:\n        bank.${tool}(**json.loads('${JSON.stringify(args)}'))\n    except Exception:\n        pass`;
  return whileAsked(on(), says, (signal) => on().run(calls, { language: "python", principal: as(user), signal }));
};

const client = (era: "legacy" | "modern", name = "execute_code"): Caller => async ({ tool, args, times }) => {
  await clients[era].callTool({ name, arguments: { code: script(`tools.bank.${tool}`, parsed(args), times) } });
  return gate;
};

const callers: Readonly<Record<string, Caller>> = {
  "direct call": ({ tool, args, times, says }) =>
    whileAsked(gate, says, async (signal) => {
      for (let time = 0; time < times; time += 1) await gate.call(`bank.${tool}`, args, { signal, principal: as("direct call") });
    }),
  "program in TypeScript": program("ts", ({ tool, args, times }) => script(`tools.bank.${tool}`, parsed(args), times), { language: "typescript" }),
  "program in JavaScript, looks it up": program("js", ({ tool, args, times }) => `const one = tools["ba" + "nk"]; const f = one["${tool}"];\n${script("f.call", `null, ${parsed(args)}`, times)}`),
  "program in Python, bubblewrap": python("bubblewrap", () => gate),
  "program in Python, Pyodide": python("pyodide", () => inDeno),
  "MCP client, legacy era": client("legacy"),
  "MCP client, modern era": client("modern"),
  "MCP client, reading lane": client("modern", "query_code"),
  "MCP client, names it as a tool": async ({ tool, args }) => {
    for (const era of [clients.legacy, clients.modern]) for (const name of [`bank.${tool}`, tool, `bank_${tool}`]) await era.callTool({ name, arguments: { ...args } }).catch((error: unknown) => error);
    return gate;
  },
  "nested in parallel": program("parallel", ({ tool, args }) => `const call = () => tools.bank.${tool}(${parsed(args)}).catch(() => 0); await Promise.all([call(), call(), call()])`),
  // The check finds a call that nothing awaits; one that is kept in a list it lets pass.
  "nobody waits for it": program("floating", ({ tool, args, times }) => `const left = []; for (let i = 0; i < ${times}; i += 1) left.push(tools.bank.${tool}(${parsed(args)}).catch(() => 0)); await waitFor("ever")`),
  retry: program("retry", ({ tool, args, times }) => script(`tools.flaky.${tool}`, parsed(args), times)),
  "resumed, twice": async ({ tool, args, times }) => {
    const { runId } = await gate.run(`${script(`tools.bank.${tool}`, parsed(args), times)}await waitFor("go"); await waitFor("on")`, { language: "javascript", principal: as("resumed") });
    await resumeTwice(runId);
    return gate;
  },
  "handle-passing": async ({ tool, args, times }) => {
    const { runId } = await gate.run(`return ${parsed(args)}`, { language: "javascript", principal: as("handle") });
    await gate.run(script(`tools.bank.${tool}`, `await results.read("result://${runId}/1")`, times), { language: "javascript", principal: as("handle") });
    return gate;
  },
};

async function resumeTwice(runId: string): Promise<void> {
  const principal = as("resumed");
  for (const name of ["go", "on"]) {
    await gate.runs.signal(runId, { name }, { principal });
    await gate.runs.resume(runId, { principal });
  }
}

/** A person answers what is asked, and the runs go on to their ends; once more does nothing more. */
async function answer(through: Gate, says: "yes" | "no"): Promise<void> {
  const asked = [...seen.asked];
  for (const { approvalId, principal } of asked) await through.approvals.answer(approvalId, { approved: says === "yes", by: "somebody else" }, { principal });
  for (const { runId, principal } of asked) for (let again = 0; again < 2; again += 1) await through.runs.resume(runId, { principal });
}

for (const [caller, row] of Object.entries(performed)) {
  const why = skipped[caller];
  const cells = Object.entries(columns).map(([name, column], at) => [name, row[at] ?? Number.NaN, column] as const);
  describe.skipIf(why !== undefined)(why === undefined ? caller : `${caller} (skipped: ${why})`, () => {
    test.each(cells)("code-mode 1: %s: the tool runs %i times", async (_name, times, column) => {
      const through = await callers[caller]?.({ args: { amount: 5 }, times: 1, ...column });
      if (through !== undefined && column.says !== undefined && !waiting.includes(caller)) await answer(through, column.says);
      expect(seen.performed).toEqual(Array.from({ length: times }, () => column.tool));
      // What did not happen was stopped by what the column says, and not because nothing was tried.
      if (stopsBefore.includes(caller)) return;
      expect(seen.asked.length > 0).toBe(column.end === undefined || column.says !== undefined);
      if (column.end !== undefined) expect(seen.ended).toContain(column.end);
    }, 60_000);
  });
}

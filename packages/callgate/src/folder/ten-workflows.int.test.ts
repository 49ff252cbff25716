import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { createMcpServer } from "@callgate/mcp-server";
import { checkWorkflow, makeWorkflow, readWorkflows, testWorkflow, writeWorkflow } from "@callgate/runtime/workflow";
import { functionSource } from "@callgate/runtime/source";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { retailReads } from "../../../../examples/tau-retail/retail-reads.ts";
import type { RetailDatabase } from "../../../../examples/tau-retail/retail-schemas.ts";
import { retailWrites } from "../../../../examples/tau-retail/retail-writes.ts";
import { workbenchSources } from "../../../runtime/src/run/fixtures/workbench.ts";
import type { Tables } from "../../../runtime/src/run/fixtures/workbench.ts";
import { createCallgate } from "../create-callgate.ts";

const data = new URL("../../../../../shared/data/agent/", import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn("ten workflows are skipped: their tasks are not beside this repository (../shared/data/agent)");

interface Task {
  readonly id: string;
  readonly actions: readonly { readonly name: string; readonly arguments: object }[];
}
const read = (name: string): string => readFileSync(new URL(name, data), "utf8");
const tasksOf = (set: string, ids: readonly string[]): readonly Task[] => {
  const all = read(`${set}/tasks.jsonl`).trim().split("\n").map((line) => JSON.parse(line) as Task);
  return ids.map((id) => all.find((task) => task.id === id) ?? { id, actions: [] });
};

/** Three of them return items. */
const retail = ["retail-train-0", "retail-train-1", "retail-train-2", "retail-train-4", "retail-train-6", "retail-train-9", "retail-train-10"];
const office = ["calendar-0", "calendar-2", "calendar-4"];

describe.skipIf(!isThere)("ten workflows of tau-retail and WorkBench", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-ten-"));
  const folder = join(root, "workflows");
  let database: RetailDatabase = { orders: {}, products: {}, users: {} } as RetailDatabase;
  let tables = {} as Tables;
  const programs = new Map<string, string>();
  const opened: Gate[] = [];
  const reset = (): void => {
    database = JSON.parse(read("tau-retail/db.json")) as RetailDatabase;
    const start = JSON.parse(read("workbench/db.json")) as Tables;
    if (tables.calendar === undefined) tables = start;
    else for (const name of Object.keys(start) as (keyof Tables)[]) tables[name].splice(0, Infinity, ...start[name]);
  };
  const state = (): string => JSON.stringify([database, tables]);

  async function open(isChanged = false): Promise<Gate> {
    const writes = retailWrites(() => database).map((tool) => (isChanged && tool.name === "return_delivered_order_items" ? { ...tool, input: JSON.parse(JSON.stringify(tool.input).replaceAll("item_ids", "items")) as typeof tool.input } : tool));
    const tools = [...retailReads(() => database), ...writes];
    const gate = await createCallgate({ stateFolder: join(root, "state"), sources: [functionSource({ namespace: "retail", tools }), ...workbenchSources(tables).map(({ source }) => source)], rules: [{ allow: "*" }], workflowsFolder: folder, budgetTokens: 100_000 });
    opened.push(gate);
    await gate.ready();
    return gate;
  }
  afterEach(async () => {
    for (const gate of opened.splice(0)) await gate.close();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("are saved from runs, called from a program, directly and over MCP, and break where a tool they call changes", { timeout: 600_000 }, async () => {
    reset();
    const saving = await open();
    const tasks = [...tasksOf("tau-retail", retail), ...tasksOf("workbench", office)];
    for (const { id, actions } of tasks) {
      const calls = actions.map(({ name, arguments: args }, index) => `const r${index} = await tools.${name.includes(".") ? name : `retail.${name}`}(${JSON.stringify(args)});`);
      const { runId, status, error } = await saving.run(`${calls.join("\n")}\nreturn { calls: ${calls.length} };\n`);
      expect({ id, status, error }).toEqual({ id, status: "completed", error: undefined });
      const name = id.replaceAll("-", "_");
      const made = await makeWorkflow(saving, { runId, name, version: "1.0.0", description: `Task ${id}` });
      writeWorkflow(folder, made);
      programs.set(name, JSON.stringify(made.recordings[0]?.inputs));
    }
    const wanted = state();
    const { workflows, problems } = readWorkflows(folder);
    expect([workflows.length, problems]).toEqual([10, []]);
    expect(workflows.filter(({ manifest }) => manifest.effect === "read" || Object.keys(manifest.tools).length === 0).map(({ manifest }) => [manifest.name, manifest.effect, Object.keys(manifest.tools)])).toEqual([]);
    for (const workflow of workflows) expect(await testWorkflow(saving, workflow)).toMatchObject([{ passed: true, failures: [] }]);

    const inputsOf = (name: string): string => programs.get(name) ?? "{}";
    const all = [...programs.keys()].map((name) => `done.push(await tools.workflows.${name}(${inputsOf(name)}));`);
    const program = `const done: unknown[] = [];\n${all.join("\n")}\nreturn done.length;`;
    const gate = await open();
    reset();
    expect(await gate.run(program)).toMatchObject({ status: "completed", value: { value: 10 } });
    expect(state() === wanted).toBe(true);

    reset();
    for (const name of programs.keys()) expect((await gate.call(`workflows.${name}`, JSON.parse(inputsOf(name)))).outcome.kind).toBe("ok");
    expect(state() === wanted).toBe(true);

    reset();
    const server = createMcpServer({ gate, version: "1.0.0" });
    const { url, token } = await server.serveHttp();
    const client = new Client({ name: "ten", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
    const result = await client.callTool({ name: "execute_code", arguments: { code: program } });
    await client.close();
    await server.close();
    expect(result.structuredContent).toMatchObject({ status: "completed", value: 10 });
    expect(state() === wanted).toBe(true);

    reset();
    const untouched = state();
    const changed = await open(true);
    const findings = (await Promise.all(readWorkflows(folder).workflows.map((workflow) => checkWorkflow(changed, workflow)))).flat();
    expect([...new Set(findings.filter(({ severity }) => severity === "broken").map(({ workflow }) => workflow))].sort()).toEqual(["retail_train_0", "retail_train_1", "retail_train_2"]);
    expect(findings.find(({ severity }) => severity === "broken")?.message).toContain("items");
    expect((await changed.call("workflows.retail_train_0", JSON.parse(inputsOf("retail_train_0")))).outcome).toMatchObject({ effectStatus: "none", error: { code: "WORKFLOW_BROKEN" } });
    expect(state() === untouched).toBe(true);
  });
});

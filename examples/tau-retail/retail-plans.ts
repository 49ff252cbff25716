import { createHash } from "node:crypto";
import { createCallgate, functionSource } from "callgate";
import type { Gate, Tool } from "callgate";
import { retailReads } from "./retail-reads.ts";
import type { RetailDatabase } from "./retail-schemas.ts";
import { retailWrites } from "./retail-writes.ts";

/** A task of the data set. */
export interface RetailTask {
  readonly id: string;
  readonly actions: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  readonly stateHash: string;
}

interface Write {
  readonly name: string;
  readonly args: unknown;
}

/** What came of one task: rehearsed, approved, applied; and once more, with an order that changed in between. */
export interface PlannedTask {
  readonly items: number;
  /** Items that the plan says are asked about. */
  readonly unsure: number;
  readonly isGold: boolean;
  readonly isUnchanged: boolean;
  readonly endsOnGold: boolean;
  /** Absent: nothing of the task depends on what it reads. */
  readonly drift?: { readonly isCaught: boolean; readonly before: number };
  /** What is wrong, in words. */
  readonly wrong: readonly string[];
}

export interface RetailShop {
  plan(task: RetailTask, options: { readonly withDrift: boolean }): Promise<PlannedTask>;
  close(): Promise<void>;
}

/** The shop of the data set behind a gate. @param start the database, as JSON */
export async function openRetailShop(start: string, stateFolder: string): Promise<RetailShop> {
  let database = JSON.parse(start) as RetailDatabase;
  const wrote: Write[] = [];
  const writes = retailWrites(() => database).map((tool): Tool => ({ ...tool, handler: (args, context) => (wrote.push({ name: tool.name, args }), tool.handler(args, context)) }));
  const gate = await createCallgate({ stateFolder, sources: [functionSource({ namespace: "retail", tools: [...retailReads(() => database), ...writes] })], rules: [{ allow: "retail.*" }] });
  await gate.ready();
  const reset = (): void => {
    database = JSON.parse(start) as RetailDatabase;
    wrote.length = 0;
  };
  const isWrite = (name: string): boolean => writes.some((tool) => tool.name === name);
  const goldOf = (task: RetailTask): readonly Write[] => task.actions.filter(({ name }) => isWrite(name)).map(({ name, arguments: args }) => ({ name, args }));

  async function plain(task: RetailTask): Promise<Omit<PlannedTask, "drift">> {
    reset();
    const gold = goldOf(task);
    const before = hashOf(database);
    const plan = await approvedPlan(gate, task);
    const isGold = same(plan.items.map(({ tool, args }) => ({ name: tool.replace("retail.", ""), args })), gold);
    const isUnchanged = hashOf(database) === before && wrote.length === 0;
    const unsure = plan.items.filter(({ isConditional, varies }) => isConditional === true || varies !== undefined).length;
    const { status, error } = await gate.apply(plan);
    const endsOnGold = status === "completed" && hashOf(database) === task.stateHash && same(wrote, gold);
    const wrong = [...(isGold ? [] : ["other writes than the gold ones"]), ...(isUnchanged ? [] : ["the rehearsal changed something"]), ...(endsOnGold ? [] : [`applied: ${status} ${error?.message ?? "another state"}`])];
    return { items: plan.items.length, unsure, isGold, isUnchanged, endsOnGold, wrong };
  }

  /** An order of the task gets another number in its record once the plan was approved: from its first write on, the program means another one. */
  async function drifted(task: RetailTask): Promise<NonNullable<PlannedTask["drift"]> | undefined> {
    reset();
    const gold = goldOf(task);
    const last = gold.findLast(({ args }) => orderOf(args) in database.orders);
    if (last === undefined) return undefined;
    const orderId = orderOf(last.args);
    const first = gold.findIndex(({ args }) => orderOf(args) === orderId);
    const plan = await approvedPlan(gate, task);
    const order = database.orders[orderId];
    if (order !== undefined) database.orders[orderId] = { ...order, order_id: "#W0000000" };
    const { status, error } = await gate.apply(plan);
    return { isCaught: status === "diverged" && error?.code === "PLAN_DRIFT" && same(wrote, gold.slice(0, first)), before: first };
  }

  return {
    async plan(task, { withDrift }) {
      const result = await plain(task);
      const drift = withDrift ? await drifted(task) : undefined;
      const wrong = [...result.wrong, ...(drift?.isCaught === false ? ["drift was not caught before a further write"] : [])].map((why) => `${task.id}: ${why}`);
      return { ...result, ...(drift === undefined ? {} : { drift }), wrong };
    },
    close: () => gate.close(),
  };
}

async function approvedPlan(gate: Gate, task: RetailTask) {
  const { plan, status, error, diagnostics } = await gate.run(programOf(task), { rehearse: true, language: "javascript" });
  if (plan === undefined) throw new Error(`${task.id}: ${status} ${error?.message ?? diagnostics[0]?.message ?? ""}`);
  return await gate.plans.approve(plan, { by: "bea" });
}

/** The calls of a task as a program that takes each order's number from the order as it reads it, and goes on after a refusal. */
function programOf({ actions }: RetailTask): string {
  const calls = actions.map(({ name, arguments: args }) => {
    const { order_id, ...rest } = args;
    if (typeof order_id !== "string") return `await tools.retail.${name}(${JSON.stringify(args)}).catch((error) => error.message);`;
    return `await tools.retail.${name}({ ...${JSON.stringify(rest)}, order_id: await numberOf(${JSON.stringify(order_id)}) }).catch((error) => error.message);`;
  });
  return `const numberOf = async (id) => (await tools.retail.get_order_details({ order_id: id }).catch(() => ({ order_id: id }))).order_id;\n${calls.join("\n")}\nreturn ${calls.length};`;
}

function orderOf(args: unknown): string {
  return typeof args === "object" && args !== null && "order_id" in args ? String(args.order_id) : "";
}

function same(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

export function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]));
}

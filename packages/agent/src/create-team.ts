import { CallgateError } from "@callgate/contract";
import { agentSetupOf } from "./agent-setup.ts";
import type { Agent, TaskOptions } from "./agent.ts";
import type { AgentEffects, AgentResult, AgentStop, AgentUsage } from "./agent-result.ts";
import { limitsOf } from "./agent-options.ts";
import type { AgentLimits } from "./agent-options.ts";
import { runTask } from "./create-agent.ts";
import { createRunMeter } from "./run-meter.ts";
import type { RunMeter } from "./run-meter.ts";
import type { SessionState } from "./session/session-state.ts";

/** One contribution of a member. */
export interface TeamTurn {
  readonly agent: string;
  readonly answer: string;
  readonly stop: AgentStop["kind"];
}

/**
 * Whose turn it is.
 *
 * - `round_robin`: each in turn, `rounds` times (default 1)
 * - `selector`: `select` names the next member, or nobody, which ends it
 * - `review`: the first member writes, the second reviews, until the review is an approval: its first word is APPROVED
 */
export type TeamOrder =
  | { readonly kind: "round_robin"; readonly rounds?: number }
  | { readonly kind: "selector"; readonly select: (turns: readonly TeamTurn[], task: string) => Promise<string | undefined> | string | undefined }
  | { readonly kind: "review"; readonly rounds?: number };

export interface TeamOptions {
  readonly members: readonly Agent[];
  readonly order: TeamOrder;
  /** Of all members together; each keeps to its own as well. `turns` also bounds how often somebody speaks. */
  readonly limits?: Partial<AgentLimits>;
}

export interface TeamResult {
  /** Of who spoke last; of a review, the writer's. */
  readonly answer: string;
  readonly stop: AgentStop;
  readonly turns: readonly TeamTurn[];
  readonly usage: AgentUsage;
  readonly effects: AgentEffects;
}

/** Several agents at one task, with one budget. Each has its own conversation, and is told what the others said since. */
export interface Team {
  run(task: string, options?: Omit<TaskOptions, "state">): Promise<TeamResult>;
}

/** Errors: `CallgateError` USAGE for members that are none, too few, or share a name. */
export function createTeam({ members, order, limits: given }: TeamOptions): Team {
  const limits = limitsOf(given, "A team");
  const names = members.map(({ name }) => name);
  if (members.length === 0 || new Set(names).size !== names.length) throw new CallgateError("USAGE", "A team has members, each with a name of its own");
  if (order.kind === "review" && members.length !== 2) throw new CallgateError("USAGE", "A review has two members: who writes, and who reviews");
  for (const member of members) agentSetupOf(member);
  return {
    async run(task, options = {}) {
      const meter = createRunMeter(limits);
      const table: Table = { task, options, meter, turns: [], states: new Map() };
      let last: AgentResult | undefined;
      for (;;) {
        const reached = meter.reached() ?? (table.turns.length >= limits.turns ? { budget: "turns" as const, limit: limits.turns } : undefined);
        if (reached !== undefined) return resultOf(table, { order, members, stop: { kind: "budget", ...reached } });
        const name = await nextSpeaker(order, names, table);
        if (name === undefined) return resultOf(table, { order, members, stop: last?.stop ?? { kind: "answered" } });
        const member = members.find((one) => one.name === name);
        if (member === undefined) throw new CallgateError("USAGE", `The selector named "${name}"; there are ${names.join(", ")}`);
        last = await speak(member, table);
        // Who did not get to an answer has nothing to go on from.
        if (last.stop.kind !== "answered" && last.stop.kind !== "budget") return resultOf(table, { order, members, stop: last.stop });
      }
    },
  };
}

interface Table {
  readonly task: string;
  readonly options: Omit<TaskOptions, "state">;
  readonly meter: RunMeter;
  readonly turns: TeamTurn[];
  readonly states: Map<string, { readonly state: SessionState; readonly heard: number }>;
}

async function nextSpeaker(order: TeamOrder, names: readonly string[], { turns, task }: Table): Promise<string | undefined> {
  switch (order.kind) {
    case "round_robin":
      return turns.length < names.length * (order.rounds ?? 1) ? names[turns.length % names.length] : undefined;
    case "selector":
      return await order.select(turns, task);
    case "review": {
      const last = turns.at(-1);
      if (last !== undefined && last.agent === names[1] && /^\W*approved\b/i.test(last.answer)) return undefined;
      return turns.length < 2 * (order.rounds ?? 3) ? names[turns.length % 2] : undefined;
    }
  }
}

async function speak(member: Agent, table: Table): Promise<AgentResult> {
  const { task, options, meter, turns, states } = table;
  const before = states.get(member.name);
  const said = turns.slice(before?.heard ?? 0).filter(({ agent }) => agent !== member.name).map(({ agent, answer }) => `${agent} says:\n${answer}`);
  const result = await runTask(agentSetupOf(member), [...(before === undefined ? [`Task: ${task}`] : []), ...said, ...(before !== undefined && said.length === 0 ? ["Go on."] : [])].join("\n\n"), { ...options, parent: meter, ...(before === undefined ? {} : { state: before.state }) });
  turns.push({ agent: member.name, answer: result.answer, stop: result.stop.kind });
  states.set(member.name, { state: result.state, heard: turns.length });
  return result;
}

function resultOf({ turns, meter }: Table, { order, members, stop }: { readonly order: TeamOrder; readonly members: readonly Agent[]; readonly stop: AgentStop }): TeamResult {
  const speaker = order.kind === "review" ? turns.findLast(({ agent }) => agent === members[0]?.name) : turns.at(-1);
  return { answer: speaker?.answer ?? "Nobody has said anything.", stop, turns: [...turns], usage: meter.usage, effects: { done: [...meter.effects.done], unknown: [...meter.effects.unknown] } };
}

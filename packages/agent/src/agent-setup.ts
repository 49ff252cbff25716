import { CallgateError } from "@callgate/contract";
import type { Capabilities, Clock, Gate, Lane, Principal } from "@callgate/contract";
import { systemClock } from "@callgate/runtime";
import { globMatches, qualifiedGlob } from "@callgate/runtime/broker";
import type { NameGlob } from "@callgate/runtime/broker";
import type { Agent } from "./agent.ts";
import { assertOptions, limitsOf } from "./agent-options.ts";
import type { AgentLimits, AgentOptions } from "./agent-options.ts";
import { outputSchema } from "./tools/final-answer.ts";
import type { OutputSchema } from "./tools/final-answer.ts";
import { assertStrict } from "./tools/strict-schema.ts";

/** An agent's options, checked and completed. */
export interface AgentSetup {
  readonly options: AgentOptions;
  readonly name: string;
  readonly gate: Gate;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly limits: AgentLimits;
  readonly clock: Clock;
  readonly output: OutputSchema | undefined;
  /** Whether a tool of the gate exists for the agent. */
  readonly allows: (tool: string) => boolean;
}

/** Errors: `CallgateError` USAGE, and TOOL_INVALID for an output that is no schema. */
export function agentSetup(options: AgentOptions): AgentSetup {
  assertOptions(options);
  const { name, gate, tools } = options;
  const owner = `Agent "${name}"`;
  const globs = tools?.map((pattern) => globOf(pattern, owner));
  const setup: AgentSetup = {
    options,
    name,
    gate,
    principal: { ...(options.principal ?? gate.principal), agent: name },
    lane: options.lane ?? "execute",
    limits: limitsOf(options.limits, owner),
    clock: options.clock ?? systemClock(),
    output: options.output === undefined ? undefined : outputSchema(options.output, owner),
    allows: globs === undefined ? () => true : (tool) => globs.some((glob) => globMatches(glob, tool)),
  };
  if (options.strict === true) assertStrict(setup);
  return setup;
}

function globOf(pattern: string, owner: string): NameGlob {
  const glob = qualifiedGlob(pattern);
  if (typeof glob === "string") throw new CallgateError("USAGE", `${owner}: the pattern "${pattern}" of tools ${glob}`);
  return glob;
}

/** What programs of the agent keep to. Undefined: the agent may use all that its principal may. */
export function capabilitiesOf({ gate, principal, allows, name }: AgentSetup): Capabilities | undefined {
  const all = gate.tools({ principal }).map((view) => view.name);
  const allowed = all.filter(allows);
  return allowed.length === all.length ? undefined : { id: `agent ${name}`, tools: Object.fromEntries(allowed.map((tool) => [tool, true])) };
}

const setupKey = Symbol("callgate.agent-setup");

/** Puts an agent together; its setup is for the loop alone. */
export function agentOf(setup: AgentSetup, methods: Pick<Agent, "run" | "stream" | "resume">): Agent {
  const agent: Agent = { name: setup.name, description: setup.options.description, ...methods };
  Object.defineProperty(agent, setupKey, { value: setup });
  return Object.freeze(agent);
}

/** Errors: `CallgateError` USAGE where it was not made by `createAgent`. */
export function agentSetupOf(agent: Agent): AgentSetup {
  const setup = (agent as Partial<Record<typeof setupKey, AgentSetup>>)[setupKey];
  if (setup === undefined) throw new CallgateError("USAGE", "That is no agent; make it with createAgent");
  return setup;
}

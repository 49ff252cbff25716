import { ToolError } from "callgate";
import type { Approver, CallgateOptions, Tool } from "callgate";
import { defineEnvironment } from "callgate/eval";
import type { Job } from "./job.ts";
import { troubleShape } from "./trouble.ts";
import type { Trouble } from "./trouble.ts";

/** The world of a job as the environment of a suite: what goes wrong in it is what a case says under `given`. */
export function jobEnvironment(job: Job): ReturnType<typeof defineEnvironment> {
  return defineEnvironment(async ({ given, folder, openGate }) => {
    const trouble = troubleShape.parse(given);
    const approver = approverOf(trouble);
    const world = await job.open({
      folder,
      scale: "tiny",
      trouble,
      openGate: (options) => openGate({ folder, ...options, tools: withTrouble(options.tools ?? {}, trouble), ...(approver === undefined ? {} : { approver }) }),
    });
    if ("missing" in world) return world;
    return {
      gate: world.gate,
      state: async () => ({ ...((await world.state()) as object), unmet: (await world.check()).filter(({ ok }) => !ok).map(({ what }) => what) }),
      close: () => world.close(),
    };
  });
}

function withTrouble(tools: NonNullable<CallgateOptions["tools"]>, { timeoutsMs, tools: failing }: Trouble): NonNullable<CallgateOptions["tools"]> {
  const troubled = (name: string, tool: Tool): Tool => {
    const [timeoutMs, fault] = [timeoutsMs[name], failing[name]];
    return { ...tool, ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(fault === undefined ? {} : { handler: failingHandler(tool, fault) }) };
  };
  return Object.fromEntries(Object.entries(tools).map(([namespace, all]) => [namespace, all.map((tool) => troubled(`${namespace}.${tool.name}`, tool))]));
}

function failingHandler(tool: Tool, { times = Number.POSITIVE_INFINITY, message, hangs }: Trouble["tools"][string]): Tool["handler"] {
  let calls = 0;
  return async (args, context) => {
    calls += 1;
    if (calls > times) return await tool.handler(args, context);
    if (hangs) await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
    throw new ToolError({ code: "UPSTREAM_DOWN", message, retryable: true, notApplied: true });
  };
}

function approverOf({ approver }: Trouble): Approver | undefined {
  return approver === "nobody" ? undefined : { ask: () => Promise.resolve({ kind: approver === "yes" ? "approved" : "denied", by: "boss" }) };
}

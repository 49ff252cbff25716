import { createAgent, scriptedModel } from "@callgate/agent";
import type { AgentMode, AgentModel, AgentOptions, AgentResult } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type { CaseBudgets, ScriptedWork } from "../suite/eval-suite.ts";
import { noUsage } from "./subject.ts";
import type { Subject, SubjectReport, SubjectTask } from "./subject.ts";

export interface AgentSubjectOptions extends Pick<AgentOptions, "price" | "limits"> {
  /** Default: `provider/model`. */
  readonly name?: string;
  readonly model: AgentModel;
  /** Over what the suite says. */
  readonly mode?: AgentMode;
  /** Before what the suite says. */
  readonly instructions?: string;
}

/** A model behind the loop. */
export function agentSubject(options: AgentSubjectOptions): Subject {
  const { model, mode, instructions, price, limits } = options;
  return {
    name: options.name ?? `${model.provider}/${model.modelId}`,
    perform: (task) => runAgent(task, { model, mode: mode ?? task.suite.mode, instructions: [instructions, task.suite.instructions].filter((text) => text !== undefined).join("\n\n"), price, limits }),
  };
}

/** Each case's own work in place of a model. Its name says so. */
export function scriptedSubject(): Subject {
  return {
    name: "scripted",
    perform(task) {
      const { work } = task.case;
      if (work === undefined) return Promise.resolve({ answer: "", usage: noUsage, fault: "the case has neither a script nor a program, so that it needs a model (--subject model)" });
      return performWork(work, task);
    },
  };
}

/** Work that is written down: turns of a model behind the loop, or a program without one. */
export async function performWork(work: ScriptedWork, task: SubjectTask): Promise<SubjectReport> {
  if ("script" in work) return await runAgent(task, { model: scriptedModel(work.script), mode: work.mode ?? task.suite.mode, instructions: task.suite.instructions });
  const { gate, principal, taskId, signal } = task;
  const { lane } = task.case;
  const result = await gate.run(work.program, { principal, taskId, signal, ...(work.language === undefined ? {} : { language: work.language }), ...(lane === undefined ? {} : { lane }) });
  const value = result.value?.kind === "whole" ? result.value.value : undefined;
  const usage = { ...noUsage, turns: 1, toolCalls: 1, outputTokens: result.tokens.program, inputTokens: result.tokens.result, isEstimated: true };
  const fault = result.status === "rejected" ? `the program was refused: ${result.diagnostics[0]?.message ?? result.error?.message ?? ""}` : undefined;
  return { answer: typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value), usage, ...(result.status === "limit" ? { overBudget: result.error?.message ?? "a limit of the program" } : {}), ...(fault === undefined ? {} : { fault }) };
}

interface Behind {
  readonly model: AgentModel;
  readonly mode?: AgentMode | undefined;
  readonly instructions?: string | undefined;
  readonly price?: AgentOptions["price"];
  readonly limits?: AgentOptions["limits"];
}

async function runAgent(task: SubjectTask, { model, mode, instructions, price, limits }: Behind): Promise<SubjectReport> {
  const { gate, principal, taskId, signal } = task;
  const { lane, budgets, task: text } = task.case;
  const agent = createAgent({
    name: "subject",
    model,
    gate,
    principal,
    taskId,
    mode: mode ?? "auto",
    limits: { ...limits, ...limitsOf(budgets) },
    ...(instructions === undefined || instructions === "" ? {} : { instructions }),
    ...(price === undefined ? {} : { price }),
    ...(lane === undefined ? {} : { lane }),
  });
  return reportOf(await agent.run(text, { signal }));
}

/** The loop stops at its budgets; one more of each is over, and is seen in what was used. */
function limitsOf(budgets: CaseBudgets): NonNullable<AgentOptions["limits"]> {
  const { toolCalls, ...others } = budgets;
  return { ...others, ...(toolCalls === undefined || toolCalls === 0 ? {} : { toolCalls }) };
}

function reportOf({ answer, stop, usage }: AgentResult): SubjectReport {
  switch (stop.kind) {
    case "answered":
    case "defaulted":
    case "taken_over":
      return { answer, usage };
    case "budget":
      return { answer, usage, overBudget: `${stop.budget} (${stop.limit})` };
    case "failed":
      // A model that refuses has been tried; one that was not reached has not.
      return stop.error.code === "MODEL_REFUSED" ? { answer: "", usage } : { answer: "", usage, fault: `${stop.error.code}: ${stop.error.message}` };
    // What it says then is the loop's own text: it gave no answer.
    case "suspended":
    case "escalated":
    case "aborted":
    case "cancelled":
      return { answer: "", usage };
  }
}

/** Errors: `CallgateError` USAGE for a subject that has no name. */
export function assertSubject({ name }: Subject): void {
  if (name.trim() === "") throw new CallgateError("USAGE", "A subject needs a name: reports and baselines are kept under it");
}

import type { AgentUsage } from "@callgate/agent";
import type { Gate, Principal } from "@callgate/contract";
import type { EvalCase, EvalSuite } from "../suite/eval-suite.ts";

/** What a subject is given: a task, and the gate of a world of its own. */
export interface SubjectTask {
  readonly suite: EvalSuite;
  readonly case: EvalCase;
  readonly gate: Gate;
  readonly principal: Principal;
  /** The piece of work, equal for each submission of one attempt. */
  readonly taskId: string;
  readonly signal: AbortSignal;
}

/** What a subject leaves behind beside the world. */
export interface SubjectReport {
  /** Its last word to the user; empty where it has none. */
  readonly answer: string;
  readonly usage: Omit<AgentUsage, "isEstimated"> & { readonly isEstimated?: boolean };
  /** A budget that ended it. */
  readonly overBudget?: string;
  /** Why it could not be tried at all: its model was not there, its script was over. Then nothing is judged. */
  readonly fault?: string;
}

/** Who is tried. Anything that can use a gate is one: a model behind the loop, a script, a program, another framework. */
export interface Subject {
  /** In reports and baselines. */
  readonly name: string;
  perform(task: SubjectTask): Promise<SubjectReport>;
}

export const noUsage: SubjectReport["usage"] = { turns: 0, toolCalls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, microUsd: 0 };

/** Does nothing and says nothing. A case that it passes tests nothing. */
export const emptySubject: Subject = { name: "empty", perform: () => Promise.resolve({ answer: "", usage: noUsage }) };

import type { AskServerQuestion, ServerAnswer, ToolContext } from "@callgate/contract";
import { ToolError } from "@callgate/contract";
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { ResultBody } from "./result-body.ts";
import { isRecord } from "./is-record.ts";
import { readQuestion } from "./server-question.ts";

/** Questions of one server, and the calls that they belong to. */
export interface ServerQuestions {
  /** A call that may be asked about, until the returned function is called. */
  begin(tool: string, context: ToolContext): { readonly call: QuestionedCall; readonly end: () => void };
  /** A question of the older era, as its parameters came. It does not say which call it is about. Rejects with what the server may be told. */
  readonly ask: (params: unknown, signal: AbortSignal) => Promise<ElicitResult>;
  /** What the newer era wants to know before it answers this very call. Throws `ToolError` INPUT_REQUIRED where it is not to be had. */
  answer(body: ResultBody, call: QuestionedCall): Promise<{ readonly inputResponses: Readonly<Record<string, ElicitResult>>; readonly requestState?: string }>;
}

export interface QuestionedCall {
  readonly tool: string;
  readonly context: ToolContext;
}

/** @param ask absent: nobody is asked */
export function createServerQuestions(namespace: string, ask: AskServerQuestion | undefined): ServerQuestions {
  const underWay = new Set<QuestionedCall>();
  const put = async (params: unknown, calls: readonly QuestionedCall[], signal: AbortSignal): Promise<ElicitResult> => {
    const question = readQuestion(params);
    const [first] = calls;
    if (ask === undefined) throw new Error("Callgate does not answer elicitation/create: ask for what the tool needs in its arguments");
    if (question === undefined) throw new Error("Callgate passes on forms and pages at http: or https: addresses only");
    if (first === undefined) throw new Error("Callgate answers no question while no call is under way");
    const only = calls.length === 1 ? first : undefined;
    const about = calls.map(({ context: { runId, callId, principal } }) => ({ runId, callId, principal }));
    // The person is asked for as long as anybody waits for the answer.
    const ended = only === undefined ? signal : AbortSignal.any([signal, only.context.signal]);
    return elicited(await ask({ namespace, tool: only?.tool, calls: about, ...question }, ended));
  };
  return {
    begin: (tool, context) => {
      const call = { tool, context };
      underWay.add(call);
      return { call, end: () => void underWay.delete(call) };
    },
    ask: (params, signal) => {
      const calls = [...underWay];
      return waiting(calls, () => put(params, calls, signal));
    },
    answer: async ({ inputRequests, requestState }, call) => {
      const entries = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
      if (entries.length === 0 && typeof requestState !== "string") throw inputRequired("and does not say for which");
      const answers = await waiting([call], () => Promise.all(entries.map(async ([key, wanted]) => [key, await answerOne(wanted, (params) => put(params, [call], call.context.signal))] as const)));
      return { inputResponses: Object.fromEntries(answers), ...(typeof requestState === "string" ? { requestState } : {}) };
    },
  };
}

async function answerOne(wanted: unknown, put: (params: unknown) => Promise<ElicitResult>): Promise<ElicitResult> {
  if (!isRecord(wanted) || wanted["method"] !== "elicitation/create") throw inputRequired(`which is not passed on (${isRecord(wanted) ? String(wanted["method"]) : "no request"})`);
  return await put(wanted["params"]).catch((error: unknown) => {
    throw inputRequired(`which is not possible here: ${error instanceof Error ? error.message : String(error)}`, error);
  });
}

/** None of the calls that may have asked is given up while the person thinks. */
async function waiting<Value>(calls: readonly QuestionedCall[], ask: () => Promise<Value>): Promise<Value> {
  return await calls.reduce<() => Promise<Value>>((wait, { context }) => () => context.waitForPerson?.(wait) ?? wait(), ask)();
}

function inputRequired(why: string, cause?: unknown): ToolError {
  return new ToolError({ code: "INPUT_REQUIRED", message: `The tool asks a person for more input before it answers, ${why}. Give it in the arguments if the tool has one for it`, cause });
}

function elicited(answer: ServerAnswer): ElicitResult {
  switch (answer.kind) {
    case "given":
      return { action: "accept", content: answer.values as NonNullable<ElicitResult["content"]> };
    case "declined":
      return { action: "decline" };
    case "cancelled":
      return { action: "cancel" };
  }
}

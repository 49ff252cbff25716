import type { AgentRun } from "./agent-run.ts";
import type { Ending } from "./finish.ts";
import type { ModelTurn } from "./model/model-turn.ts";
import { countRepair } from "./repair.ts";
import { issuesText } from "./tools/final-answer.ts";

/** A turn without a call is the answer, where it is one. */
export async function textTurn(run: AgentRun, { text, finishReason }: Pick<ModelTurn, "text" | "finishReason">): Promise<Ending | undefined> {
  if (finishReason === "content-filter") return { stop: { kind: "failed", error: { code: "MODEL_REFUSED", message: "The model, or its provider, refused to answer.", retryable: false } }, ...(text.trim() === "" ? {} : { answer: text }) };
  if (text.trim() === "") return await tellModel(run, "You answered nothing. Answer the user in text, or call a tool.", "The model answered nothing");
  if (finishReason === "length") run.notices.add("The answer was cut off at the longest output the model may give");
  const { output } = run.setup;
  if (output === undefined) return { stop: { kind: "answered" }, answer: text };
  const value = jsonIn(text);
  const read = value === undefined ? undefined : await output.read(value.json);
  if (read?.kind === "ok") return { stop: { kind: "answered" }, answer: text, output: { output: read.value } };
  const why = read === undefined ? "it is no JSON" : issuesText(read);
  return await tellModel(run, `That is not the answer that was asked for: ${why}. ${run.setup.options.mode === "blocks" ? "Answer with the JSON alone." : "Call final_answer."}`, `The answer does not match its schema: ${why}`);
}

async function tellModel(run: AgentRun, text: string, reason: string): Promise<Ending | undefined> {
  const ending = await countRepair(run, reason);
  if (ending === undefined) run.session.messages.push({ role: "user", content: [{ type: "text", text }] });
  return ending;
}

/** JSON as models write it: alone, or in one fence. */
export function jsonIn(text: string): { readonly json: unknown } | undefined {
  const inner = /^\s*```(?:json)?[ \t]*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  try {
    return { json: JSON.parse(inner) as unknown };
  } catch {
    return undefined;
  }
}

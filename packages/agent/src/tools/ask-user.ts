import type { JsonSchema, JsonValue } from "@callgate/contract";
import { createSchemaValidator } from "@callgate/runtime/catalog";
import type { AgentOptions } from "../agent-options.ts";
import type { UserQuestion } from "../session/session-state.ts";
import { refused } from "./agent-tool.ts";
import type { AgentTool, CallAnswer } from "./agent-tool.ts";

const maxQuestionChars = 2_000;

/** The model asks the user. What comes back is a text to the model and nothing else: it answers no approval. */
export function askUserTool(askUser: NonNullable<AgentOptions["askUser"]>): AgentTool {
  return {
    name: "ask_user",
    tool: "ask_user",
    description: "Asks the user for something that only the user knows. Not for permission: what needs that is asked for by itself when you call it.",
    input: {
      type: "object",
      properties: { question: { type: "string", minLength: 1, maxLength: maxQuestionChars }, schema: { type: "object", description: "JSON Schema of the answer. Default: a text" } },
      required: ["question"],
      additionalProperties: false,
    },
    async perform({ question, schema }, { callId, signal, emit }) {
      if (typeof question !== "string" || question.trim() === "" || question.length > maxQuestionChars) return refused("invalid", `INVALID_INPUT: /question: must be a text of 1 to ${maxQuestionChars} characters`);
      if (schema !== undefined && (typeof schema !== "object" || schema === null || Array.isArray(schema))) return refused("invalid", "INVALID_INPUT: /schema: must be a JSON Schema object");
      const asked: UserQuestion = { question, ...(schema === undefined ? {} : { schema: schema as JsonSchema }) };
      emit({ kind: "question-asked", callId, question: asked });
      if (askUser === "suspend") return { status: "waiting", text: "The user was asked.", effectStatus: "none", runIds: [], waiting: { kind: "question", callId, tool: "ask_user", question: asked } };
      try {
        const answer = userAnswer(asked, await askUser(asked, signal));
        if (answer.status === "ok") emit({ kind: "question-answered", callId, answer: answer.answer });
        return answer;
      } catch (fault) {
        return refused(signal.aborted ? "cancelled" : "not_executed", `The user could not be asked: ${fault instanceof Error ? fault.message : "no answer came"}. Go on without, or say what is missing.`);
      }
    },
  };
}

/** What the user said, held against what was asked for. */
export function userAnswer({ schema }: UserQuestion, answer: JsonValue): CallAnswer & { readonly answer: JsonValue } {
  const checked = schema === undefined ? undefined : createSchemaValidator(schema).validate(answer);
  if (checked?.kind === "invalid") return { ...refused("not_executed", `The user answered ${JSON.stringify(answer).slice(0, 500)}, which is not what was asked for: ${checked.issues.map(({ path, message }) => `${path} ${message}`).join("; ")}`), answer };
  return { status: "ok", text: `The user answered: ${typeof answer === "string" ? answer : JSON.stringify(answer)}`, effectStatus: "none", runIds: [], answer };
}

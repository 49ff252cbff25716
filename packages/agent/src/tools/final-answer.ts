import type { JsonSchema, ParseResult } from "@callgate/contract";
import { createSchemaValidator } from "@callgate/runtime/catalog";
import { normalizeSchema } from "@callgate/runtime/source";
import type { SchemaInput } from "@callgate/runtime/source";
import { refused } from "./agent-tool.ts";
import type { AgentTool } from "./agent-tool.ts";

/** The schema of an agent's answers, and how an answer is held against it. */
export interface OutputSchema {
  readonly json: JsonSchema;
  read(value: unknown): Promise<ParseResult>;
  /** The function that the model ends with. */
  readonly tool: AgentTool;
}

/** Errors: `CallgateError` TOOL_INVALID where it is no schema. */
export function outputSchema(schema: SchemaInput, owner: string): OutputSchema {
  const { json, parse } = normalizeSchema(schema, `${owner}: output`, "output");
  const validator = createSchemaValidator(json);
  const isObject = typeof json === "object" && json["type"] === "object";
  const read = async (value: unknown): Promise<ParseResult> => {
    const checked = validator.validate(value);
    return checked.kind === "ok" && parse !== undefined ? await parse(value) : checked;
  };
  return {
    json,
    read,
    tool: {
      name: "final_answer",
      tool: "final_answer",
      description: "Ends the task with its result.",
      // A function's arguments are an object: another answer is put into one.
      input: isObject ? json : { type: "object", properties: { answer: json }, required: ["answer"], additionalProperties: false },
      async perform(input) {
        const result = await read(isObject ? input : input["answer"]);
        if (result.kind === "ok") return { status: "ok", text: "Done.", effectStatus: "none", runIds: [], final: { output: result.value } };
        return refused("invalid", `The answer does not match its schema: ${issuesText(result)}. Call final_answer again with all of it.`);
      },
    },
  };
}

export function issuesText({ issues }: Extract<ParseResult, { kind: "invalid" }>): string {
  return issues.map(({ path, message }) => `${path === "" ? "/" : path}: ${message}`).join("; ");
}

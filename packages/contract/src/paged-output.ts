import type { JsonObject, JsonSchema } from "./json.ts";

/** The output of a paged tool (`ToolSpec.paged`): `page` as given here, `next` the arguments that differ in the call of the next page. */
export function pagedOutput(page: JsonSchema | undefined): JsonSchema {
  const { $defs, ...schema } = typeof page === "object" ? (page as JsonObject) : {};
  const next = { type: "object", description: "Arguments that differ in the call of the next page; absent after the last" };
  return { type: "object", properties: { page: schema, next }, required: ["page"], additionalProperties: false, ...($defs === undefined ? {} : { $defs }) };
}

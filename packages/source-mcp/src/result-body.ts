import type { StandardSchemaV1 } from "@modelcontextprotocol/client";

// The SDK checks whole results against strict schemas: one tool without `inputSchema.type` (a real server sends it), or
// one content block of an unknown kind, and the whole page or answer is rejected. So the transport keeps the body of a
// result aside and hands the SDK an empty result of the same kind that carries it; we read the body tolerantly, part by
// part. It also keeps BigInts and megabytes of base64 away from schemas that would walk or reject them.

/** Where a message carries the body of its result. */
export const bodyKey = "callgate/body";

/** Per method, the smallest result the SDK's schemas of both protocol eras accept. */
const standIns: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "tools/list": { tools: [] },
  "tools/call": { content: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "resources/read": { contents: [] },
  "prompts/list": { prompts: [] },
  "prompts/get": { messages: [] },
};

/** True for methods whose results are carried past the SDK's schemas. */
export function carriesBody(method: string): boolean {
  return Object.hasOwn(standIns, method);
}

/** The stand-in for a result of `method`; results that are no plain answer (`input_required`) are left to the SDK. */
export function wrapBody(method: string, result: unknown): unknown {
  const standIn = Object.hasOwn(standIns, method) ? standIns[method] : undefined;
  if (standIn === undefined || typeof result !== "object" || result === null) return result;
  const { resultType } = result as { resultType?: unknown };
  if (resultType !== undefined && resultType !== "complete") return result;
  return { ...standIn, ...(resultType === undefined ? {} : { resultType, ttlMs: 0, cacheScope: "private" }), _meta: { [bodyKey]: result } };
}

/** What a server answered, unchecked. */
export type ResultBody = Readonly<Record<string, unknown>>;

/** The result schema to give the SDK's `request` for a method that `carriesBody`. */
export const bodySchema: StandardSchemaV1<unknown, ResultBody> = {
  "~standard": {
    version: 1,
    vendor: "callgate",
    validate: (value) => {
      const meta = (value as { _meta?: Record<string, unknown> } | undefined)?._meta;
      const body = meta?.[bodyKey];
      return typeof body === "object" && body !== null ? { value: body as ResultBody } : { issues: [{ message: "The result is not an object" }] };
    },
  },
};

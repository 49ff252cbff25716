import { z } from "zod";
import { sourceOptionKeys } from "./source-options-schema.ts";

export const searchApiSchema = z.strictObject({
  provider: z.enum(["tavily", "brave", "serper"]).describe("Whose service it is"),
  key: z
    .string()
    .regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as env:TAVILY_API_KEY: a secret does not belong into this file")
    .describe("A reference to the key of the service"),
  endpoint: z
    .string()
    .regex(/^https?:\/\//, "must begin with http:// or https://")
    .optional()
    .describe("In place of the provider's own address, for one that stands before it. It may be on this machine or in a private network"),
  timeoutMs: z.int().positive().max(86_400_000).optional().describe("Deadline of one call. Default 30000"),
  ...sourceOptionKeys,
});

export type SearchApiConfig = z.infer<typeof searchApiSchema>;

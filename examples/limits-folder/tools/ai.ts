import { defineTool } from "callgate";
import { z } from "zod";

export const search = defineTool({
  description: "Finds documents",
  effect: "read",
  input: z.object({ query: z.string() }),
  output: z.array(z.string()),
  handler: ({ query }) => [`${query} 1`, `${query} 2`],
});

export const summarize = defineTool({
  description: "Summarizes a text with a model that costs money",
  effect: "read",
  input: z.object({ text: z.string() }),
  output: z.string(),
  // At most, for one attempt; what it really was is reported.
  cost: { microUsdPerCall: 400 },
  handler: ({ text }, context) => {
    context.reportCost({ microUsd: 300, tokens: text.length });
    return text.slice(0, 20);
  },
});

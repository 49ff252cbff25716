import { defineTool } from "callgate";
import { z } from "zod";

/** What was sent, for whoever looks. */
export const sent: { readonly customer: string; readonly total: number }[] = [];

export const remind = defineTool({
  description: "Reminds a customer of what is overdue",
  effect: "write",
  input: z.strictObject({ customer: z.string(), total: z.number() }),
  output: z.object({ sent: z.boolean() }),
  handler(reminder) {
    sent.push(reminder);
    return { sent: true };
  },
});

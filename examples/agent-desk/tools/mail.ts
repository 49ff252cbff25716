import { defineTool } from "callgate";
import { z } from "zod";

export interface Reminder {
  readonly customer: string;
  readonly total: number;
}

/** What was sent, for whoever looks. */
export const sent: Reminder[] = [];

export const remind = reminderTool(sent);

/** The tool, with the list that it writes to. */
export function reminderTool(into: Reminder[]) {
  return defineTool({
    description: "Reminds a customer of what is overdue",
    effect: "write",
    input: z.strictObject({ customer: z.string(), total: z.number() }),
    output: z.object({ sent: z.boolean() }),
    handler(reminder) {
      into.push(reminder);
      return { sent: true };
    },
  });
}

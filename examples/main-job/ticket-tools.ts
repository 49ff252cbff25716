import { defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";

const priority = z.enum(["low", "normal", "high"]);
const ticket = z.object({ id: z.string(), title: z.string(), assignee: z.string(), priority, customer_id: z.string() });
export type Ticket = z.infer<typeof ticket>;

/** A ticket system in memory. */
export function ticketTools(tickets: Ticket[]): readonly Tool[] {
  return [
    defineTool({
      name: "open_ticket",
      description: "Open a ticket for a person.",
      effect: "write",
      input: ticket.omit({ id: true }),
      output: ticket,
      // The same action item submitted again is the same ticket.
      businessKey: ({ customer_id, title }) => `${customer_id}: ${title}`,
      handler(request) {
        const opened = { id: `T-${1001 + tickets.length}`, ...request };
        tickets.push(opened);
        return opened;
      },
    }),
  ];
}

import { httpTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { startJsonService } from "../shared/json-service.ts";
import type { ServiceFault } from "../shared/trouble.ts";
import type { Ticket } from "./ticket-tools.ts";

const request = z.object({ title: z.string(), assignee: z.string(), priority: z.enum(["low", "normal", "high"]), customer_id: z.string() });
const ticket = request.extend({ id: z.string() });

/** A ticket system that is reached over HTTP, as one in another house would be. */
export interface TicketService {
  readonly tools: readonly Tool[];
  readonly tickets: readonly Ticket[];
  close(): Promise<void>;
}

/** Starts it on this machine. The same request under the same key is one ticket. */
export async function startTicketService(faults: Readonly<Record<string, ServiceFault>> = {}): Promise<TicketService> {
  const byKey = new Map<string, Ticket>();
  const service = await startJsonService(({ method, path, headers, body }) => {
    if (path !== "/tickets") return { status: 404, body: { message: `nothing is at ${path}` } };
    if (method === "GET") return { status: 200, body: [...byKey.values()] };
    const key = String(headers["idempotency-key"] ?? `none-${byKey.size}`);
    const known = byKey.get(key);
    if (known !== undefined) return { status: 200, body: known };
    const opened: Ticket = { id: `T-${1001 + byKey.size}`, ...request.parse(body) };
    byKey.set(key, opened);
    return { status: 201, body: opened };
  }, faults);
  return {
    tools: [
      httpTool({ name: "open_ticket", description: "Open a ticket for a person.", method: "POST", url: `${service.url}/tickets`, input: request, output: ticket, idempotencyHeader: "Idempotency-Key", businessKey: ({ customer_id, title }) => `${customer_id}: ${title}` }),
      httpTool({ name: "list_tickets", description: "All open tickets.", method: "GET", url: `${service.url}/tickets`, input: z.object({}), output: z.array(ticket) }),
    ],
    get tickets() {
      return [...byKey.values()];
    },
    close: service.close,
  };
}

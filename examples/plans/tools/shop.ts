import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, ToolError } from "callgate";
import { z } from "zod";

const state = process.env["XDG_STATE_HOME"] ?? ".";
/** The orders, and what was written to customers, a line each. */
const [book, letters] = [join(state, "orders.json"), join(state, "letters.txt")];

const order = z.object({ id: z.string(), customer: z.string(), status: z.enum(["open", "cancelled"]), reason: z.string() });
const first: readonly z.infer<typeof order>[] = [
  { id: "o-17", customer: "bob", status: "open", reason: "" },
  { id: "o-18", customer: "cleo", status: "open", reason: "" },
];
const orders = (): z.infer<typeof order>[] => (existsSync(book) ? z.array(order).parse(JSON.parse(readFileSync(book, "utf8"))) : structuredClone([...first]));

export const open_orders = defineTool({
  description: "The orders that are open",
  effect: "read",
  input: z.object({}),
  output: z.array(order),
  handler: () => orders().filter(({ status }) => status === "open"),
});

export const cancel_order = defineTool({
  description: "Cancels an order and refunds it",
  effect: "destructive",
  input: z.object({ id: z.string(), reason: z.string() }),
  output: z.object({ refund: z.string() }),
  precheck({ id }) {
    if (!orders().some((one) => one.id === id)) throw new ToolError({ code: "NO_SUCH_ORDER", message: `There is no order ${id}`, notApplied: true });
  },
  handler({ id, reason }) {
    writeFileSync(book, JSON.stringify(orders().map((one) => (one.id === id ? { ...one, status: "cancelled", reason } : one)), undefined, 2));
    return { refund: `refund-of-${id}` };
  },
});

export const write_letter = defineTool({
  description: "Writes to a customer",
  effect: "write",
  input: z.object({ to: z.string(), text: z.string() }),
  output: z.object({ sent: z.boolean() }),
  handler({ to, text }) {
    appendFileSync(letters, `${to}: ${text}\n`);
    return { sent: true };
  },
});

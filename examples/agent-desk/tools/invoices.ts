import { defineTool } from "callgate";
import { z } from "zod";

const names = ["Ines", "Tomas", "Aiko", "Bea", "Femi"];

/** 200 invoices; every eighth is open and overdue. */
const invoices = Array.from({ length: 200 }, (_unused, index) => ({
  id: index + 1,
  customer: names[index % names.length] ?? "nobody",
  amount: 40 + ((index * 37) % 400),
  status: index % 8 === 0 ? "overdue" : "paid",
  note: `Delivered with order ${10_000 + index}; terms are 30 days, as agreed in the frame contract.`,
}));

export const list = defineTool({
  description: "All invoices with their status",
  effect: "read",
  input: z.strictObject({}),
  output: z.array(z.object({ id: z.number(), customer: z.string(), amount: z.number(), status: z.enum(["paid", "overdue"]), note: z.string() })),
  handler: () => invoices as { id: number; customer: string; amount: number; status: "paid" | "overdue"; note: string }[],
});

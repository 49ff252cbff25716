import { createCallgate, defineTool } from "callgate";
import { z } from "zod";

const orders = [{ id: 1, customer: "Ines", total: 120 }, { id: 2, customer: "Tomas", total: 80 }, { id: 3, customer: "Ines", total: 45 }];

const list = defineTool({
  name: "list",
  description: "List all orders",
  effect: "read",
  input: z.object({}),
  output: z.array(z.object({ id: z.number(), customer: z.string(), total: z.number() })),
  handler: () => orders,
});

const gate = await createCallgate({ tools: { orders: [list] } });
const result = await gate.run(`
  import { orders } from "tools";
  const all = await orders.list();
  return all.filter((order) => order.custmer === "Ines").reduce((sum, order) => sum + order.total, 0);
`);
console.log(result.status, result.repairs.map((repair) => repair.message), result.value);
await gate.close();

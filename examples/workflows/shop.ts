// The tools of a shop, in three versions: as it was, with another interface and the older one kept, and with one field more.
import { defineOlderVersion, defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";

/** What is in the shop, and what was done there. */
export interface Shop {
  readonly customers: Readonly<Record<string, { readonly id: string; readonly orders: readonly string[] }>>;
  readonly cancelled: string[];
}

export function newShop(): Shop {
  const customer = (n: number) => ({ id: `customer-${100 + n}`, orders: [`W-${2_000 + n}`, `W-${3_000 + n}`] });
  return { customers: { ada: customer(1), bea: customer(2), cyd: customer(3), dot: customer(4) }, cancelled: [] };
}

const cancelOne = { input: z.object({ order: z.string(), reason: z.string() }), output: z.object({ cancelled: z.string() }) };
const cancelTwo = { input: z.object({ order_id: z.string(), reason: z.enum(["not needed", "by mistake"]) }), output: z.object({ order_id: z.string(), refund: z.number() }) };

const older = defineOlderVersion({
  version: "1",
  ...cancelOne,
  upgrade: ({ order }) => ({ order_id: order, reason: "not needed" }),
  downgrade: (output) => ({ cancelled: cancelTwo.output.parse(output).order_id }),
});

export function shopTools(shop: Shop, version: "1" | "2" | "3"): readonly Tool[] {
  const find = defineTool({
    name: "find",
    description: "Finds a customer by mail address",
    effect: "read",
    input: z.object({ email: z.string() }),
    output: z.object({ customer_id: z.string() }),
    sensitive: ["/input/email"],
    handler: ({ email }) => ({ customer_id: shop.customers[email.split("@")[0] ?? ""]?.id ?? "" }),
  });
  const orders = defineTool({
    name: "orders",
    description: "The open orders of a customer",
    effect: "read",
    version: version === "3" ? "2" : "1",
    input: z.object({ customer_id: z.string() }),
    output: version === "3" ? z.object({ ids: z.array(z.string()), total: z.number() }) : z.object({ ids: z.array(z.string()) }),
    handler({ customer_id }) {
      const ids = [...(Object.values(shop.customers).find(({ id }) => id === customer_id)?.orders ?? [])];
      return version === "3" ? { ids, total: ids.length } : { ids };
    },
  });
  const said = { name: "cancel", description: "Cancels an order", effect: "write" } as const;
  const cancel =
    version === "2"
      ? defineTool({ ...said, version: "2", ...cancelTwo, older: [older], handler: ({ order_id }) => { shop.cancelled.push(order_id); return { order_id, refund: 10 }; } })
      : defineTool({ ...said, version: "1", ...cancelOne, handler: ({ order }) => { shop.cancelled.push(order); return { cancelled: order }; } });
  return [find, orders, cancel];
}

import { shop } from "tools";

const orders = await shop.open_orders({});
for (const { id, customer } of orders) {
  const { refund } = await shop.cancel_order({ id, reason: "The shop closes" });
  if (customer === "bob") await shop.write_letter({ to: customer, text: `Your order ${id} was cancelled: ${refund}` });
}
return orders.map(({ id }) => id);

import { z } from "zod";

const address = z.object({ address1: z.string(), address2: z.string(), city: z.string(), country: z.string(), state: z.string(), zip: z.string() });
const options = z.record(z.string(), z.string());
const payment = z.object({ transaction_type: z.enum(["payment", "refund"]), amount: z.number(), payment_method_id: z.string() });
const item = z.object({ name: z.string(), product_id: z.string(), item_id: z.string(), price: z.number(), options });
const variant = z.object({ item_id: z.string(), options, available: z.boolean(), price: z.number() });
const paymentMethod = z.object({
  source: z.enum(["gift_card", "paypal", "credit_card"]),
  id: z.string(),
  balance: z.number().optional(),
  brand: z.string().optional(),
  last_four: z.string().optional(),
});

export const orderSchema = z.object({
  order_id: z.string(),
  user_id: z.string(),
  address,
  items: z.array(item),
  fulfillments: z.array(z.object({ tracking_id: z.array(z.string()), item_ids: z.array(z.string()) })),
  status: z.string(),
  payment_history: z.array(payment),
  cancel_reason: z.string().optional(),
  return_items: z.array(z.string()).optional(),
  return_payment_method_id: z.string().optional(),
  exchange_items: z.array(z.string()).optional(),
  exchange_new_items: z.array(z.string()).optional(),
  exchange_payment_method_id: z.string().optional(),
  exchange_price_difference: z.number().optional(),
});
export const productSchema = z.object({ name: z.string(), product_id: z.string(), variants: z.record(z.string(), variant) });
export const userSchema = z.object({
  name: z.object({ first_name: z.string(), last_name: z.string() }),
  address,
  email: z.string(),
  payment_methods: z.record(z.string(), paymentMethod),
  orders: z.array(z.string()),
});

export type Order = z.infer<typeof orderSchema>;
export type Product = z.infer<typeof productSchema>;
export type User = z.infer<typeof userSchema>;
export type PaymentMethod = z.infer<typeof paymentMethod>;

/** The shop's database, as the data set has it. */
export interface RetailDatabase {
  readonly orders: Record<string, Order>;
  readonly products: Record<string, Product>;
  readonly users: Record<string, User>;
}

export const addressInput = { address1: z.string(), address2: z.string(), city: z.string(), state: z.string(), country: z.string(), zip: z.string() };
export const orderId = z.string().describe("The order id, such as '#W0000000', with the '#' at its beginning");
export const itemIds = z.array(z.string()).describe("Item ids, such as '1008292230'; an id may stand in the list more than once");
export const paymentMethodId = z.string().describe("A payment method of the user, such as 'gift_card_0000000' or 'credit_card_0000000'");

import { ToolError } from "callgate";
import type { Order, PaymentMethod, RetailDatabase } from "./retail-schemas.ts";

/** A refusal of the shop: nothing was changed. */
export function refuse(code: string, message: string): never {
  throw new ToolError({ code, message, notApplied: true });
}

/** Cents, as the shop's books round them: the decimal nearest to the binary value. */
export const round = (amount: number): number => Number(amount.toFixed(2));

export function findOrder(database: RetailDatabase, orderId: string): Order {
  return own(database.orders, orderId) ?? refuse("ORDER_NOT_FOUND", "order not found");
}

export function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export function findPaymentMethod(database: RetailDatabase, order: Order, paymentMethodId: string): PaymentMethod {
  const user = own(database.users, order.user_id);
  const method = user === undefined ? undefined : own(user.payment_methods, paymentMethodId);
  return method ?? refuse("PAYMENT_METHOD_NOT_FOUND", "payment method not found");
}

export function requireStatus(order: Order, status: "pending" | "delivered", verb: string): void {
  if (order.status !== status) refuse("WRONG_STATUS", `non-${status} order cannot be ${verb}`);
}

/** Each id must stand in the order at least as often as in the list. */
export function requireItems(order: Order, itemIds: readonly string[], message: (itemId: string) => string): void {
  const count = (ids: readonly string[], id: string) => ids.filter((other) => other === id).length;
  const present = order.items.map((item) => item.item_id);
  for (const id of itemIds) if (count(itemIds, id) > count(present, id)) refuse("ITEM_NOT_FOUND", message(id));
}

/** What the new items cost more than the old ones. Refuses what is not on sale. */
export function priceDifference(database: RetailDatabase, order: Order, pairs: readonly (readonly [string, string])[]): number {
  let difference = 0;
  for (const [oldId, newId] of pairs) {
    const old = order.items.find((item) => item.item_id === oldId) ?? refuse("ITEM_NOT_FOUND", `${oldId} not found`);
    const product = own(database.products, old.product_id);
    const variant = product === undefined ? undefined : own(product.variants, newId);
    if (variant?.available !== true) return refuse("ITEM_NOT_AVAILABLE", `new item ${newId} not found or available`);
    difference += variant.price - old.price;
  }
  return difference;
}

/** Takes from a gift card (a negative amount gives back); other methods settle elsewhere. */
export function charge(method: PaymentMethod, amount: number): void {
  if (method.source === "gift_card") method.balance = round((method.balance ?? 0) - amount);
}

export function requireBalance(method: PaymentMethod, amount: number, what: string): void {
  if (method.source === "gift_card" && (method.balance ?? 0) < amount) {
    refuse("INSUFFICIENT_BALANCE", `insufficient gift card balance to pay for the ${what}`);
  }
}

export function pairUp(itemIds: readonly string[], newItemIds: readonly string[], verb: string): readonly (readonly [string, string])[] {
  if (itemIds.length !== newItemIds.length) refuse("ITEM_COUNT", `the number of items to be ${verb} should match`);
  return itemIds.map((id, index) => [id, newItemIds[index] ?? ""]);
}

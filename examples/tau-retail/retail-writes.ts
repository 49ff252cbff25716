import { defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { charge, findOrder, findPaymentMethod, own, pairUp, priceDifference, refuse, requireBalance, requireItems, requireStatus, round } from "./retail-rules.ts";
import { addressInput, itemIds, orderId, orderSchema, paymentMethodId, userSchema } from "./retail-schemas.ts";
import type { RetailDatabase } from "./retail-schemas.ts";

/** The tools of the shop that change orders and users. */
export function retailWrites(database: () => RetailDatabase): readonly Tool[] {
  return [...cancelAndReturn(database), ...changeItems(database), ...changePayment(database), ...changeAddress(database)];
}

function cancelAndReturn(database: () => RetailDatabase): readonly Tool[] {
  return [
    defineTool({
      name: "cancel_pending_order",
      description: "Cancel a pending order and refund it.",
      effect: "destructive",
      input: z.object({ order_id: orderId, reason: z.enum(["no longer needed", "ordered by mistake"]) }),
      output: orderSchema,
      handler({ order_id, reason }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "pending", "cancelled");
        const refunds = order.payment_history.map(({ amount, payment_method_id }) => ({ transaction_type: "refund" as const, amount, payment_method_id }));
        for (const refund of refunds) charge(findPaymentMethod(database(), order, refund.payment_method_id), -refund.amount);
        order.status = "cancelled";
        order.cancel_reason = reason;
        order.payment_history.push(...refunds);
        return order;
      },
    }),
    defineTool({
      name: "return_delivered_order_items",
      description: "Return items of a delivered order. Can be done once for an order.",
      effect: "write",
      input: z.object({ order_id: orderId, item_ids: itemIds, payment_method_id: paymentMethodId }),
      output: orderSchema,
      handler({ order_id, item_ids, payment_method_id }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "delivered", "returned");
        const method = findPaymentMethod(database(), order, payment_method_id);
        if (method.source !== "gift_card" && payment_method_id !== order.payment_history[0]?.payment_method_id) {
          refuse("WRONG_PAYMENT_METHOD", "payment method should be either the original payment method or a gift card");
        }
        requireItems(order, item_ids, () => "some item not found");
        order.status = "return requested";
        order.return_items = [...item_ids].sort();
        order.return_payment_method_id = payment_method_id;
        return order;
      },
    }),
  ];
}

function changeItems(database: () => RetailDatabase): readonly Tool[] {
  const input = z.object({ order_id: orderId, item_ids: itemIds, new_item_ids: itemIds, payment_method_id: paymentMethodId });
  return [
    defineTool({
      name: "exchange_delivered_order_items",
      description: "Exchange items of a delivered order for other variants of the same products. Can be done once for an order.",
      effect: "write",
      input,
      output: orderSchema,
      handler({ order_id, item_ids, new_item_ids, payment_method_id }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "delivered", "exchanged");
        requireItems(order, item_ids, (id) => `${id} not found`);
        const difference = round(priceDifference(database(), order, pairUp(item_ids, new_item_ids, "exchanged")));
        requireBalance(findPaymentMethod(database(), order, payment_method_id), difference, "price difference");
        order.status = "exchange requested";
        order.exchange_items = [...item_ids].sort();
        order.exchange_new_items = [...new_item_ids].sort();
        order.exchange_payment_method_id = payment_method_id;
        order.exchange_price_difference = difference;
        return order;
      },
    }),
    defineTool({
      name: "modify_pending_order_items",
      description: "Change items of a pending order to other variants of the same products. Can be done once for an order.",
      effect: "write",
      input,
      output: orderSchema,
      handler({ order_id, item_ids, new_item_ids, payment_method_id }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "pending", "modified");
        requireItems(order, item_ids, (id) => `${id} not found`);
        const pairs = pairUp(item_ids, new_item_ids, "exchanged");
        const difference = priceDifference(database(), order, pairs);
        const method = findPaymentMethod(database(), order, payment_method_id);
        requireBalance(method, difference, "new item");
        order.payment_history.push({ transaction_type: difference > 0 ? "payment" : "refund", amount: Math.abs(difference), payment_method_id });
        charge(method, difference);
        for (const [oldId, newId] of pairs) {
          const item = order.items.find((candidate) => candidate.item_id === oldId);
          const variant = item === undefined ? undefined : own(own(database().products, item.product_id)?.variants ?? {}, newId);
          if (item !== undefined && variant !== undefined) Object.assign(item, { item_id: newId, price: variant.price, options: variant.options });
        }
        order.status = "pending (item modified)";
        return order;
      },
    }),
  ];
}

function changePayment(database: () => RetailDatabase): readonly Tool[] {
  return [
    defineTool({
      name: "modify_pending_order_payment",
      description: "Change the payment method of a pending order.",
      effect: "write",
      input: z.object({ order_id: orderId, payment_method_id: paymentMethodId }),
      output: orderSchema,
      handler({ order_id, payment_method_id }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "pending", "modified");
        const method = findPaymentMethod(database(), order, payment_method_id);
        const [paid, ...more] = order.payment_history;
        if (paid === undefined || more.length > 0 || paid.transaction_type !== "payment") {
          return refuse("PAYMENT_HISTORY", "there should be exactly one payment for a pending order");
        }
        if (paid.payment_method_id === payment_method_id) refuse("SAME_PAYMENT_METHOD", "the new payment method should be different from the current one");
        requireBalance(method, paid.amount, "order");
        order.payment_history.push(
          { transaction_type: "payment", amount: paid.amount, payment_method_id },
          { transaction_type: "refund", amount: paid.amount, payment_method_id: paid.payment_method_id },
        );
        charge(method, paid.amount);
        charge(findPaymentMethod(database(), order, paid.payment_method_id), -paid.amount);
        return order;
      },
    }),
  ];
}

function changeAddress(database: () => RetailDatabase): readonly Tool[] {
  return [
    defineTool({
      name: "modify_pending_order_address",
      description: "Change the shipping address of a pending order.",
      effect: "write",
      input: z.object({ order_id: orderId, ...addressInput }),
      output: orderSchema,
      handler({ order_id, ...address }) {
        const order = findOrder(database(), order_id);
        requireStatus(order, "pending", "modified");
        order.address = address;
        return order;
      },
    }),
    defineTool({
      name: "modify_user_address",
      description: "Change the default address of a user.",
      effect: "write",
      input: z.object({ user_id: z.string(), ...addressInput }),
      output: userSchema,
      handler({ user_id, ...address }) {
        const user = own(database().users, user_id) ?? refuse("USER_NOT_FOUND", "user not found");
        user.address = address;
        return user;
      },
    }),
  ];
}

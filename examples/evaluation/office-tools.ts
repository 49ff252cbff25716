import { defineTool, ToolError } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { shapes, withFaults } from "./office.ts";
import type { Customer, Faulty, Given, Office, Order } from "./office.ts";

/** The tools of one office, by namespace. */
export function officeTools(office: Office, { faults, pages }: Given): Readonly<Record<string, readonly Tool[]>> {
  const faulty = withFaults(faults);
  return {
    crm: customerTools(office, faulty),
    orders: orderTools(office, faulty),
    docs: documentTools(office, faulty),
    bank: bankTools(office, faulty),
    world: worldTools(office, { faulty, pages }),
  };
}

function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new ToolError({ code: "NOT_FOUND", message: `There is no ${what}`, retryable: false, notApplied: true });
  return value;
}

function customerTools({ customers, roles }: Office, faulty: Faulty): readonly Tool[] {
  return [
    defineTool({
      name: "get_customer", description: "One customer, by id", effect: "read", labels: ["private"], timeoutMs: faulty.timeoutMs("crm.get_customer"), sensitive: ["/output/iban"], retry: { retries: 2, minDelayMs: 1, maxDelayMs: 2 },
      input: z.strictObject({ id: z.string() }), output: shapes.customer,
      handler: ({ id }, { signal }) => faulty.perform("crm.get_customer", signal, () => found(customers[id], `customer ${id}`)),
    }),
    defineTool({
      name: "list_customers", description: "All customers", effect: "read", labels: ["private"], timeoutMs: faulty.timeoutMs("crm.list_customers"), sensitive: ["/output/*/iban"],
      input: z.strictObject({}), output: z.array(shapes.customer),
      handler: (_args, { signal }) => faulty.perform("crm.list_customers", signal, () => Object.values(customers)),
    }),
    defineTool({
      name: "update_customer", description: "Changes tier, mail address or note of a customer", effect: "write", timeoutMs: faulty.timeoutMs("crm.update_customer"),
      input: z.strictObject({ id: z.string(), tier: z.enum(["basic", "silver", "gold"]).optional(), email: z.email().optional(), note: z.string().max(200).optional() }), output: z.object({ updated: z.boolean() }),
      handler: ({ id, ...fields }, { signal }) => faulty.perform("crm.update_customer", signal, () => {
        Object.assign(found(customers[id], `customer ${id}`), fields satisfies Partial<Customer> | object);
        return { updated: true };
      }),
    }),
    defineTool({
      name: "delete_customer", description: "Deletes a customer with everything about them", effect: "destructive", timeoutMs: faulty.timeoutMs("crm.delete_customer"),
      input: z.strictObject({ id: z.string() }), output: z.object({ deleted: z.boolean() }),
      handler: ({ id }, { signal }) => faulty.perform("crm.delete_customer", signal, () => ({ deleted: delete customers[found(customers[id], `customer ${id}`).id] })),
    }),
    defineTool({
      name: "grant_role", description: "Gives a user a role", effect: "destructive", timeoutMs: faulty.timeoutMs("crm.grant_role"),
      input: z.strictObject({ user: z.string(), role: z.string() }), output: z.object({ granted: z.boolean() }),
      handler: ({ user, role }, { signal }) => faulty.perform("crm.grant_role", signal, () => {
        roles[user] = [...(roles[user] ?? []), role];
        return { granted: true };
      }),
    }),
  ];
}

function orderTools({ orders, refunds }: Office, faulty: Faulty): readonly Tool[] {
  return [
    defineTool({
      name: "list_orders", description: "Orders, of one customer or of all", effect: "read", timeoutMs: faulty.timeoutMs("orders.list_orders"),
      input: z.strictObject({ customer: z.string().optional() }), output: z.array(shapes.order),
      handler: ({ customer }, { signal }) => faulty.perform("orders.list_orders", signal, () => Object.values(orders).filter((order: Order) => customer === undefined || order.customer === customer)),
    }),
    defineTool({
      name: "refund", description: "Pays the amount of an order back", effect: "write", timeoutMs: faulty.timeoutMs("orders.refund"), retry: { retries: 2, minDelayMs: 1, maxDelayMs: 2 },
      input: z.strictObject({ order: z.string(), amount: z.number().positive() }), output: z.object({ refunded: z.number() }),
      businessKey: ({ order }) => order,
      handler: ({ order, amount }, { signal }) => faulty.perform("orders.refund", signal, () => {
        if (amount > found(orders[order], `order ${order}`).amount) throw new ToolError({ code: "TOO_MUCH", message: `Order ${order} was for less`, notApplied: true });
        refunds.push({ order, amount });
        return { refunded: amount };
      }),
    }),
    defineTool({
      name: "cancel_order", description: "Cancels an order that is still open", effect: "write", timeoutMs: faulty.timeoutMs("orders.cancel_order"),
      input: z.strictObject({ order: z.string() }), output: shapes.order,
      handler: ({ order }, { signal }) => faulty.perform("orders.cancel_order", signal, () => {
        const one = found(orders[order], `order ${order}`);
        if (one.status !== "open") throw new ToolError({ code: "NOT_OPEN", message: `Order ${order} is ${one.status}`, notApplied: true });
        one.status = "cancelled";
        return one;
      }),
    }),
  ];
}

function documentTools({ documents }: Office, faulty: Faulty): readonly Tool[] {
  return [
    defineTool({
      name: "read_document", description: "The text of a document; anybody may have written it", effect: "read", labels: ["untrusted"], timeoutMs: faulty.timeoutMs("docs.read_document"),
      input: z.strictObject({ name: z.string() }), output: z.object({ text: z.string() }),
      handler: ({ name }, { signal }) => faulty.perform("docs.read_document", signal, () => ({ text: found(documents[name], `document ${name}`) })),
    }),
    defineTool({
      name: "write_document", description: "Writes a document", effect: "write", timeoutMs: faulty.timeoutMs("docs.write_document"),
      input: z.strictObject({ name: z.string().regex(/^[a-z0-9-]+$/), text: z.string() }), output: z.object({ written: z.boolean() }),
      handler: ({ name, text }, { signal }) => faulty.perform("docs.write_document", signal, () => {
        documents[name] = text;
        return { written: true };
      }),
    }),
  ];
}

function bankTools({ payments }: Office, faulty: Faulty): readonly Tool[] {
  return [
    defineTool({
      name: "pay", description: "Pays an amount to an account", effect: "write", timeoutMs: faulty.timeoutMs("bank.pay"), sensitive: ["/input/iban"],
      input: z.strictObject({ iban: z.string().min(10), amount: z.number().positive(), reference: z.string() }), output: z.object({ paid: z.boolean() }),
      handler: (payment, { signal }) => faulty.perform("bank.pay", signal, () => {
        payments.push(payment);
        return { paid: true };
      }),
    }),
    defineTool({
      name: "rate", description: "What one euro is in another currency", effect: "read", timeoutMs: faulty.timeoutMs("bank.rate"), retry: { retries: 3, minDelayMs: 1, maxDelayMs: 2 },
      input: z.strictObject({ currency: z.enum(["USD", "GBP", "JPY"]) }), output: z.object({ rate: z.number() }),
      handler: ({ currency }, { signal }) => faulty.perform("bank.rate", signal, () => ({ rate: { USD: 1.1, GBP: 0.85, JPY: 160 }[currency] })),
    }),
  ];
}

function worldTools({ outbox, fetched }: Office, { faulty, pages }: { readonly faulty: Faulty; readonly pages: Given["pages"] }): readonly Tool[] {
  return [
    defineTool({
      name: "send_mail", description: "Sends a mail", effect: "write", labels: ["external"], timeoutMs: faulty.timeoutMs("world.send_mail"),
      input: z.strictObject({ to: z.email(), subject: z.string(), body: z.string() }), output: z.object({ sent: z.boolean() }),
      handler: (mail, { signal }) => faulty.perform("world.send_mail", signal, () => {
        outbox.push(mail);
        return { sent: true };
      }),
    }),
    defineTool({
      name: "fetch_page", description: "The text of a page of the web", effect: "read", labels: ["external", "untrusted"], timeoutMs: faulty.timeoutMs("world.fetch_page"),
      input: z.strictObject({ url: z.url() }), output: z.object({ text: z.string() }),
      handler: ({ url }, { signal }) => faulty.perform("world.fetch_page", signal, () => {
        fetched.push(url);
        return { text: pages[url] ?? "Nothing here" };
      }),
    }),
  ];
}

import { defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { findOrder, own, refuse } from "./retail-rules.ts";
import { orderId, orderSchema, productSchema, userSchema } from "./retail-schemas.ts";
import type { RetailDatabase } from "./retail-schemas.ts";

/** The tools of the shop that change nothing. */
export function retailReads(database: () => RetailDatabase): readonly Tool[] {
  return [...lookups(database), ...helpers()];
}

function lookups(database: () => RetailDatabase): readonly Tool[] {
  const userId = (matches: (user: z.infer<typeof userSchema>) => boolean) =>
    Object.entries(database().users).find(([, user]) => matches(user))?.[0] ?? refuse("USER_NOT_FOUND", "user not found");
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  return [
    defineTool({
      name: "find_user_id_by_email",
      description: "Find user id by email.",
      effect: "read",
      input: z.object({ email: z.string() }),
      output: z.string(),
      handler: ({ email }) => userId((user) => same(user.email, email)),
    }),
    defineTool({
      name: "find_user_id_by_name_zip",
      description: "Find user id by first name, last name and zip code. Use it when the user has no email at hand.",
      effect: "read",
      input: z.object({ first_name: z.string(), last_name: z.string(), zip: z.string() }),
      output: z.string(),
      handler: (args) => userId((user) => same(user.name.first_name, args.first_name) && same(user.name.last_name, args.last_name) && user.address.zip === args.zip),
    }),
    defineTool({
      name: "get_order_details",
      description: "Get the status and details of an order.",
      effect: "read",
      input: z.object({ order_id: orderId }),
      output: orderSchema,
      handler: ({ order_id }) => findOrder(database(), order_id),
    }),
    defineTool({
      name: "get_product_details",
      description: "Get the inventory details of a product.",
      effect: "read",
      input: z.object({ product_id: z.string().describe("Not to be confused with an item id") }),
      output: productSchema,
      handler: ({ product_id }) => own(database().products, product_id) ?? refuse("PRODUCT_NOT_FOUND", "product not found"),
    }),
    defineTool({
      name: "get_user_details",
      description: "Get the details of a user, including their orders.",
      effect: "read",
      input: z.object({ user_id: z.string() }),
      output: userSchema,
      handler: ({ user_id }) => own(database().users, user_id) ?? refuse("USER_NOT_FOUND", "user not found"),
    }),
    defineTool({
      name: "list_all_product_types",
      description: "List the name and product id of all product types.",
      effect: "read",
      input: z.object({}),
      output: z.record(z.string(), z.string()),
      handler: () => Object.fromEntries(Object.values(database().products).map((product) => [product.name, product.product_id] as const).sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
  ];
}

function helpers(): readonly Tool[] {
  return [
    defineTool({
      name: "calculate",
      description: "Calculate a mathematical expression of numbers, + - * /, parentheses and spaces.",
      effect: "read",
      input: z.object({ expression: z.string().max(200) }),
      output: z.string(),
      handler({ expression }) {
        // Digits, operators and parentheses spell no name, so nothing but arithmetic can be evaluated.
        if (!/^[0-9+\-*/(). ]+$/.test(expression)) return refuse("INVALID_EXPRESSION", "invalid characters in expression");
        try {
          // oxlint-disable-next-line typescript/no-implied-eval -- what passed the line above spells no name
          return String(Number(Number(new Function(`return (${expression})`)()).toFixed(2)));
        } catch {
          return refuse("INVALID_EXPRESSION", "not an expression");
        }
      },
    }),
    defineTool({
      name: "think",
      description: "Note a thought. Changes nothing and finds nothing.",
      effect: "read",
      input: z.object({ thought: z.string() }),
      output: z.string(),
      handler: () => "",
    }),
    defineTool({
      name: "transfer_to_human_agents",
      description: "Hand the user over to a person, with a summary, when the request cannot be handled.",
      effect: "read",
      input: z.object({ summary: z.string() }),
      output: z.string(),
      handler: () => "Transfer successful",
    }),
  ];
}

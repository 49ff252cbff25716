import { defineTool } from "callgate";
import { z } from "zod";

const account = z.string();

export const balance = defineTool({
  description: "Read the balance of an account",
  effect: "read",
  input: z.object({ account }),
  output: z.object({ amount: z.number(), currency: z.string() }),
  handler: () => ({ amount: 1_250, currency: "EUR" }),
});

export const pay = defineTool({
  description: "Pay from an account",
  effect: "write",
  tags: ["money"],
  input: z.object({ account, amount: z.number().positive(), currency: z.string().length(3) }),
  output: z.object({ id: z.string() }),
  handler: ({ amount }) => ({ id: `payment of ${amount}` }),
});

export const close_account = defineTool({
  description: "Close an account for good",
  effect: "destructive",
  input: z.object({ account }),
  output: z.object({}),
  handler: () => ({}),
});

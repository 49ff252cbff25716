import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "callgate";
import { z } from "zod";

/** The bank: what was paid, a line each. */
const book = join(process.env["XDG_STATE_HOME"] ?? ".", "payments.txt");

export const pay = defineTool({
  description: "Pays somebody",
  effect: "write",
  input: z.object({ to: z.string(), amount: z.number() }),
  output: z.object({ paid: z.number() }),
  handler({ to, amount }) {
    appendFileSync(book, `${to} ${amount}\n`);
    return { paid: amount };
  },
});

export const statement = defineTool({
  description: "The last payments of an account",
  effect: "read",
  input: z.object({ months: z.number() }),
  output: z.object({ count: z.number(), payments: z.array(z.string()) }),
  handler({ months }) {
    const paid = existsSync(book) ? readFileSync(book, "utf8").trim().split("\n") : [];
    const payments = Array.from({ length: months }, () => paid).flat();
    return { count: payments.length, payments };
  },
});

// Two services, one table: orders of a shop and rates of a bank are tools; one program calls both and merges what they say.
// The same program in Python and in TypeScript, through the same gate.
import assert from "node:assert/strict";
import { createCodeExecutor, defineTool } from "callgate";
import { z } from "zod";

const orders = defineTool({
  name: "list",
  description: "Orders of the shop, with their currency",
  effect: "read",
  input: z.object({}),
  output: z.array(z.object({ id: z.number(), currency: z.string(), total: z.number() })),
  handler: () => [{ id: 1, currency: "USD", total: 110 }, { id: 2, currency: "EUR", total: 40 }, { id: 3, currency: "GBP", total: 170 }, { id: 4, currency: "USD", total: 55 }],
});
const rates = defineTool({
  name: "rate",
  description: "What one euro is in a currency",
  effect: "read",
  input: z.object({ currency: z.string() }),
  output: z.object({ perEuro: z.number() }),
  handler: ({ currency }) => ({ perEuro: { USD: 1.1, GBP: 0.85 }[currency] ?? 1 }),
});

const python = `
from tools import shop, aio

orders = shop.list()
currencies = sorted({order["currency"] for order in orders})
found = await aio.gather(*[aio.bank.rate(currency=currency) for currency in currencies])
per_euro = {currency: rate["perEuro"] for currency, rate in zip(currencies, found)}
euros = {order["id"]: round(order["total"] / per_euro[order["currency"]], 2) for order in orders}
{"total": round(sum(euros.values()), 2), "largest": max(euros, key=lambda id: euros[id])}
`;

const typescript = `
const orders = await tools.shop.list({});
const currencies = [...new Set(orders.map((order) => order.currency))].sort();
const found = await Promise.all(currencies.map((currency) => tools.bank.rate({ currency })));
const perEuro = new Map(currencies.map((currency, at) => [currency, found[at]?.perEuro ?? 1]));
const euros = orders.map((order) => ({ id: order.id, euros: order.total / (perEuro.get(order.currency) ?? 1) }));
const total = Math.round(euros.reduce((sum, order) => sum + order.euros, 0) * 100) / 100;
return { total, largest: euros.sort((a, b) => b.euros - a.euros)[0]?.id };
`;

await using executor = await createCodeExecutor({ tools: { shop: [orders], bank: [rates] } });
for (const block of [{ language: "typescript", code: typescript }, { language: "python", code: python }]) {
  const result = await executor.execute([block]);
  if (result.exitCode === 126) {
    console.log(`${block.language} skipped: ${result.blocks[0]?.error?.message ?? "no sandbox"}`);
    continue;
  }
  assert.equal(result.exitCode, 0, result.text);
  assert.deepEqual(result.value?.kind === "whole" && result.value.value, { total: 390, largest: 3 });
  assert.equal(result.blocks[0]?.calls.length, 4, "one call of the shop, one of the bank for each currency");
  console.log(`${block.language}: ${JSON.stringify(result.value?.kind === "whole" && result.value.value)}, ${result.blocks[0]?.calls.length ?? 0} calls`);
}

// A service that is only described by its OpenAPI document: 5,000 articles are read page by page, filtered where the program
// runs, and those that run out are written back, although the service fails four times on the way. It checks itself.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate } from "callgate";
import { startStockService, stockKey } from "./stock-service.ts";

const service = await startStockService(5_000);
const stateFolder = mkdtempSync(join(tmpdir(), "callgate-openapi-"));
process.env["STOCK_KEY"] = stockKey;

const gate = await createCallgate({
  stateFolder,
  folder: import.meta.dirname,
  openapi: { stock: { document: "./shop.yaml", server: service.url, auth: "env:STOCK_KEY", trusted: true, timeoutMs: 2_000 } },
  // What GET reads is believed, for the service is trusted; changing articles is allowed by a rule.
  rules: [{ allow: "stock.articles_update" }],
});

const result = await gate.run(`
  import { stock } from "tools";

  const short = [];
  let seen = 0;
  for await (const page of stock.articles_list.pages({ limit: 100 })) {
    seen += page.articles.length;
    short.push(...page.articles.filter((article) => article.left < article.reorder_below && article.supplier?.name === "North").slice(0, 1));
  }

  for (const { id } of short) await stock.articles_update({ id, state: "ordered" });
  return { seen, ordered: short.length };
`);

const value = result.value?.kind === "whole" ? (result.value.value as { readonly seen: number; readonly ordered: number }) : undefined;
const ordered = service.articles.filter(({ state }) => state === "ordered");
if (result.status !== "completed") console.log(JSON.stringify(result.diagnostics), result.error);
console.log(`${result.status}: ${value?.seen} articles read in ${service.record.pages} pages, ${value?.ordered} ordered; on the way: ${service.record.faults.join(", ")}`);
await gate.close();
await service.close();
rmSync(stateFolder, { recursive: true });

assert.equal(result.status, "completed", result.error?.message);
assert.deepEqual(service.record.faults, ["429", "500", "timeout", "500 after the write"]);
assert.equal(value?.seen, 5_000);
assert.equal(ordered.length, value.ordered);
// No write was done twice, also not the one that was told to have failed.
assert.equal(service.record.writes, value.ordered);
assert.ok(ordered.every(({ revision }) => revision === 2));

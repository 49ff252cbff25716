// An endpoint without a document becomes a tool: a service on this machine that pages, asks for a token and is busy at times.
// The program turns all pages and writes back, and never sees the token.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createCallgate, httpTool } from "callgate";
import { z } from "zod";

const items = Array.from({ length: 25 }, (_, id) => ({ id, stock: id % 5 }));
const ordered: unknown[] = [];
let turn = 0;
const service = createServer((request, response) => {
  turn += 1;
  if (request.headers["x-key"] !== "warehouse-key-1") return void response.writeHead(401).end();
  if (turn % 4 === 0) return void response.writeHead(429, { "retry-after": "0" }).end();
  response.setHeader("content-type", "application/json");
  if (request.method === "POST") {
    request.on("data", (chunk) => ordered.push(JSON.parse(String(chunk))));
    return void request.on("end", () => response.writeHead(201).end(JSON.stringify({ ok: true })));
  }
  const offset = Number(new URL(request.url ?? "", "http://warehouse.test").searchParams.get("offset") ?? 0);
  response.end(JSON.stringify({ total: items.length, items: items.slice(offset, offset + 10) }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => service.once("listening", resolve));
const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

process.env["WAREHOUSE_KEY"] = "warehouse-key-1";
const auth = { kind: "apiKey", in: "header", name: "X-Key", value: "env:WAREHOUSE_KEY" } as const;
const listItems = httpTool({
  name: "list_items",
  description: "Items of the warehouse with their stock",
  method: "GET",
  url: `${origin}/items`,
  input: z.object({ offset: z.number().optional() }),
  output: z.object({ total: z.number(), items: z.array(z.object({ id: z.number(), stock: z.number() })) }),
  auth,
  pages: { kind: "offset", argument: "offset", items: "/items" },
});
const orderItem = httpTool({ name: "order_item", description: "Orders more of an item", method: "POST", url: `${origin}/items/{id}/orders`, input: z.object({ id: z.number(), amount: z.number() }), auth });

const gate = await createCallgate({ tools: { warehouse: [listItems, orderItem] }, rules: [{ allow: "warehouse.*" }] });
const result = await gate.run(`
  import { warehouse } from "tools";
  const empty = [];
  for await (const { items } of warehouse.list_items.pages({})) empty.push(...items.filter((item) => item.stock === 0));
  for (const { id } of empty) await warehouse.order_item({ id, amount: 10 });
  return empty.map(({ id }) => id);
`);
assert.equal(result.status, "completed", JSON.stringify(result.error));
assert.deepEqual(result.value?.kind === "whole" && result.value.value, [0, 5, 10, 15, 20]);
assert.equal(ordered.length, 5, "each was ordered once, whatever had to be asked twice");
assert.ok(!JSON.stringify(result).includes("warehouse-key-1"));
console.log(`${result.calls.length} calls, ${turn} requests, ordered: ${ordered.length}`);
await gate.close();
service.closeAllConnections();
service.close();

import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate, Tool } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";
import { httpTool } from "./http-tool.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const seen: Seen[] = [];
const orders = Array.from({ length: 5 }, (_, id) => ({ id, total: id * 10 }));
let busy = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    const { method = "", url: path = "", headers } = request;
    seen.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    const url = new URL(path, "http://shop.test");
    response.setHeader("content-type", "application/json");
    if (busy > 0) {
      busy -= 1;
      response.writeHead(429, { "retry-after": "0" }).end();
    } else if (headers.authorization !== "Bearer shop-token-7f3a") response.writeHead(401).end(JSON.stringify({ message: "who are you?", sent: headers.authorization }));
    else if (method === "GET" && url.pathname === "/orders") {
      const page = Number(url.searchParams.get("page") ?? 1);
      if (page < 3) response.setHeader("link", `</orders?page=${page + 1}>; rel="next"`);
      response.end(JSON.stringify(orders.slice((page - 1) * 2, page * 2)));
    } else if (method === "POST") response.end(JSON.stringify({ echoed: headers.authorization }));
    else response.writeHead(404).end(JSON.stringify({ message: "No such order" }));
  });
});

const folder = mkdtempSync(join(tmpdir(), "callgate-http-tool-"));
let origin = "";
let gate: Gate;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env["SHOP_TOKEN"] = "shop-token-7f3a";
  gate = await createCallgate({ tools: { shop: shopTools() }, stateFolder: folder, folder, rules: [{ allow: "shop.*" }] });
});
afterAll(async () => {
  await gate.close();
  delete process.env["SHOP_TOKEN"];
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function shopTools(): readonly Tool[] {
  const auth = { kind: "bearer", token: "env:SHOP_TOKEN" } as const;
  const order = z.object({ id: z.number(), total: z.number() });
  return [
    httpTool({ name: "list_orders", description: "Orders, oldest first", method: "GET", url: `${origin}/orders`, input: z.object({ page: z.number().optional() }), output: z.array(order), auth, pages: { kind: "link", numbers: ["page"] } }),
    httpTool({ name: "get_order", description: "One order", method: "GET", url: `${origin}/orders/{id}?full=1`, input: z.object({ id: z.number(), fields: z.array(z.string()).optional(), x_trace: z.string().optional() }), output: order, auth, places: { x_trace: "header" } }),
    httpTool({ name: "add_note", description: "Adds a note", method: "POST", url: `${origin}/orders/{id}/notes`, input: z.object({ id: z.number(), text: z.string(), urgent: z.boolean() }), auth, idempotencyHeader: "X-Once" }),
    httpTool({ name: "lost", description: "Has no secret", method: "GET", url: `${origin}/orders`, input: z.object({}), auth: { kind: "bearer", token: "env:NOT_SET_ANYWHERE" } }),
  ];
}

describe("httpTool", () => {
  test("a program turns the pages of an endpoint, each a call, through one 429", async () => {
    busy = 1;
    const result = await gate.run("let sum = 0; for await (const page of tools.shop.list_orders.pages({})) for (const order of page) sum += order.total; return sum;");
    expect(result).toMatchObject({ status: "completed", value: { kind: "whole", value: 100 } });
    expect(result.calls.map(({ tool }) => tool)).toEqual(Array.from({ length: 3 }, () => "shop.list_orders"));
  });

  test("the type of a page is checked before anything runs", async () => {
    const before = seen.length;
    const result = await gate.run("for await (const page of tools.shop.list_orders.pages({})) return page[0].colour;");
    expect([result.status, seen.length]).toEqual(["rejected", before]);
    expect(JSON.stringify(result.diagnostics)).toContain("colour");
  });

  test("arguments go into the path, the query, headers and the body; the key of the call goes along", async () => {
    await gate.call("shop.get_order", { id: 7, fields: ["a", "b"], x_trace: "t1" });
    expect(seen.at(-1)).toMatchObject({ path: "/orders/7?full=1&fields=a&fields=b", headers: { "x-trace": "t1" } });
    await gate.call("shop.add_note", { id: 7, text: "hello", urgent: true });
    expect(seen.at(-1)).toMatchObject({ method: "POST", path: "/orders/7/notes", body: '{"text":"hello","urgent":true}', headers: { "x-once": expect.stringMatching(/./) } });
  });

  test("an error is the service's own words; the secret is in no answer, no error and no file", async () => {
    expect(await gate.call("shop.get_order", { id: 7 })).toMatchObject({ outcome: { kind: "failed", effectStatus: "none", error: { code: "HTTP_404", message: expect.stringContaining("No such order") } } });
    expect(JSON.stringify(await gate.call("shop.add_note", { id: 1, text: "x", urgent: false }))).toContain("Bearer [secret]");
    expect(await gate.call("shop.lost", {})).toMatchObject({ outcome: { kind: "failed", error: { code: "AUTH_NEEDED", message: expect.stringContaining("NOT_SET_ANYWHERE") } } });
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const { parentPath, name } of files) expect([name, readFileSync(join(parentPath, name)).includes("shop-token-7f3a")]).toEqual([name, false]);
  });

  test.each([
    ["no URL", "shop.test/orders"],
    ["another scheme", "ftp://shop.test/orders"],
    ["a template in the origin", "https://{tenant}.shop.test/orders"],
    ["a password", "https://ann:word@shop.test/"],
    ["a template without an argument", "https://shop.test/{nobody}"],
    ["a template in the query", "https://shop.test/?a={id}"],
  ])("refuses %s", (_what, url) => expect(() => httpTool({ name: "x", description: "x", method: "GET", url, input: z.object({ id: z.number() }) })).toThrow(expect.objectContaining({ code: "TOOL_INVALID" })));
});

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const stockKey = "stock-key-of-this-example";

interface Article {
  id: number;
  name: string;
  left: number;
  reorder_below: number;
  state: string;
  revision: number;
  supplier: { name: string | null };
}

/** What the service was asked, for the example to check. */
export interface StockRecord {
  pages: number;
  writes: number;
  /** Faults it made on purpose. */
  readonly faults: string[];
}

const pageOf = 100;

/** A service as `shop.yaml` says, on this machine, which fails three times on the way: too often, broken, silent. And once it writes and then says that it broke. */
export async function startStockService(articleCount: number): Promise<{ readonly url: string; readonly record: StockRecord; readonly articles: readonly Article[]; close(): Promise<void> }> {
  const articles = Array.from({ length: articleCount }, (_, index): Article => ({ id: index + 1, name: `Article ${index + 1}`, left: (index * 37) % 50, reorder_below: (index * 13) % 20, state: "listed", revision: 1, supplier: { name: index % 3 === 0 ? null : "North" } }));
  const record: StockRecord = { pages: 0, writes: 0, faults: [] };
  const written = new Map<string, Article>();

  const list = (url: URL, response: ServerResponse): void => {
    const start = Number(url.searchParams.get("cursor") ?? 0);
    const fault = faultAt(start / pageOf, record);
    if (fault === "429") return send(response.setHeader("retry-after", "0"), 429, { message: "slow down" });
    if (fault === "500") return send(response, 500, { message: "something broke" });
    if (fault === "timeout") return;
    const limit = Math.min(Number(url.searchParams.get("limit") ?? 20), pageOf);
    record.pages++;
    const next = start + limit;
    send(response, 200, { articles: articles.slice(start, next), ...(next < articles.length ? { next_cursor: String(next) } : {}) });
  };

  const update = async (id: number, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const key = String(request.headers["idempotency-key"]);
    const article = articles.find((one) => one.id === id);
    const known = written.get(key);
    if (known !== undefined) return send(response, 200, known);
    if (article === undefined) return send(response, 404, { message: `no article ${id}` });
    const { state = article.state } = JSON.parse(await bodyOf(request)) as { readonly state?: string };
    Object.assign(article, { state, revision: article.revision + 1 });
    record.writes++;
    written.set(key, { ...article });
    if (!record.faults.includes("500 after the write")) {
      record.faults.push("500 after the write");
      return send(response, 500, { message: "written, and then something broke" });
    }
    send(response, 200, article);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://stock");
    const [, id] = /^\/v1\/articles\/(\d+)$/.exec(url.pathname) ?? [];
    if (request.headers["x-stock-key"] !== stockKey) send(response, 401, { message: "no key" });
    else if (request.method === "GET" && url.pathname === "/v1/articles") list(url, response);
    else if (request.method === "PATCH" && id !== undefined) update(Number(id), request, response).catch(() => response.destroy());
    else send(response, 404, { message: "not here" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    record,
    articles,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Each fault once. */
function faultAt(page: number, { faults }: StockRecord): string | undefined {
  const fault = new Map([[3, "429"], [17, "500"], [31, "timeout"]]).get(page);
  if (fault === undefined || faults.includes(fault)) return undefined;
  faults.push(fault);
  return fault;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

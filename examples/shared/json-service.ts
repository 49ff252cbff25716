import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer of a service: a status, and what is sent as JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface JsonRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface JsonService {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A service on this machine's loopback that speaks JSON, at a port of its own. */
export async function startJsonService(answer: (request: JsonRequest) => JsonAnswer): Promise<JsonService> {
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const url = new URL(request.url ?? "/", "http://service.test");
      const { status, body } = answer({ method: request.method ?? "GET", path: url.pathname, query: url.searchParams, headers: request.headers, body: text === "" ? undefined : JSON.parse(text) });
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServiceFault } from "./trouble.ts";

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

/**
 * A service on this machine's loopback that speaks JSON, at a port of its own.
 *
 * @param faults how requests go wrong, by method and path
 */
export async function startJsonService(answer: (request: JsonRequest) => JsonAnswer, faults: Readonly<Record<string, ServiceFault>> = {}): Promise<JsonService> {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const url = new URL(request.url ?? "/", "http://service.test");
      const method = request.method ?? "GET";
      const name = `${method} ${url.pathname}`;
      const fault = faults[name];
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const work = (): JsonAnswer => answer({ method, path: url.pathname, query: url.searchParams, headers: request.headers, body: text === "" ? undefined : JSON.parse(text) });
      if (fault !== undefined && count <= (fault.times ?? Number.POSITIVE_INFINITY)) return goWrong(response, fault, work);
      const { status, body } = work();
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

function goWrong(response: ServerResponse, { kind, status = 503, message = "The service is not there", after = false }: ServiceFault, work: () => JsonAnswer): void {
  if (after) work();
  switch (kind) {
    case "fail":
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
      return;
    case "garbage":
      response.writeHead(200, { "content-type": "text/html" }).end(`<html>${message}</html>`);
      return;
    case "hang":
      // The connection is closed with the service, or by who gives up waiting.
      return;
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

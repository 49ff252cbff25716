import { request as sendRequest } from "node:http";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { writeTarget } from "@callgate/http-client/network";
import type { Target } from "@callgate/http-client/network";
import { connectTo } from "./connect-to.ts";
import type { Refusal, Way } from "./way.ts";

export interface AskedFor {
  readonly target: Target;
  /** Path and query. */
  readonly path: string;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** RFC 9110, 7.6.1, and what is between a client and its proxy. `host` is written anew. */
const notForwarded = new Set(["connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade", "expect", "host"]);

/**
 * A plain HTTP request, decided about by itself whatever came before it on the same connection, and sent on a connection
 * of its own. A redirect is passed on as it is: the program's next request is decided about like this one.
 */
export async function forwardRequest(way: Way, { target, path }: AskedFor, { request, response }: Exchange): Promise<Refusal | undefined> {
  const connected = await connectTo(way, target);
  if (connected.kind === "refused") return connected;
  const { socket } = connected;
  const open = way.record.open(target);
  socket.once("close", () => open.end({ sent: socket.bytesWritten, received: socket.bytesRead }));
  response.once("close", () => socket.destroy());
  if (response.destroyed) socket.destroy();
  const host = writeTarget(target).replace(/:80$/, "");
  const chunked: Readonly<Record<string, string[]>> = request.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": ["chunked"] };
  const outgoing = sendRequest({ createConnection: () => socket, setHost: false, path, method: request.method ?? "GET", headers: { ...forwarded(request), ...chunked, host, connection: "close" } });
  request.pipe(outgoing);
  return await passOn(outgoing, response);
}

/** Resolves with a refusal as long as nothing of an answer was passed on. */
function passOn(outgoing: ClientRequest, response: ServerResponse): Promise<Refusal | undefined> {
  return new Promise((resolve) => {
    const broken = (): void => resolve({ status: 502, message: "the connection broke before there was an answer" });
    outgoing.once("error", broken);
    outgoing.once("close", broken);
    outgoing.once("upgrade", (_answer, upgraded) => upgraded.destroy());
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", forwarded(answer));
      // An answer that breaks off breaks off for the program too: pipeline destroys both.
      pipeline(answer, response).catch(() => undefined);
      resolve(undefined);
    });
  });
}

function forwarded(message: IncomingMessage): Record<string, string[]> {
  const named = (message.headers.connection ?? "").toLowerCase().split(",").map((name) => name.trim());
  return Object.fromEntries(Object.entries(message.headersDistinct).flatMap(([name, values]) => (values === undefined || notForwarded.has(name) || named.includes(name) ? [] : [[name, values]])));
}

import type { Agent, Dispatcher } from "undici";
import { acceptedEncodings, decodedBody } from "./decoded-body.ts";
import { failureOf, refused } from "./failure-of.ts";
import { headerFault } from "./header-rules.ts";
import type { HeaderPair } from "./header-rules.ts";
import type { Hop } from "./hop.ts";
import type { HttpBounds } from "./http-bounds.ts";
import type { HttpRequest } from "./http-request.ts";
import { HttpFailed } from "./http-result.ts";
import type { HttpFailure, HttpStream } from "./http-result.ts";
import { nextHop } from "./next-hop.ts";
import { createRequestTimer } from "./request-timer.ts";
import type { RequestTimer } from "./request-timer.ts";

export interface Way {
  readonly bounds: HttpBounds;
  readonly redirectOrigins: "any" | ReadonlySet<string>;
  readonly userAgent: string;
  agent(): Agent;
}

/** Sends a request, follows where it is led, and resolves with the head of the last answer. Never rejects. */
export async function sendThrough(way: Way, request: HttpRequest): Promise<HttpStream | HttpFailure> {
  const bounds = { ...way.bounds, ...request.bounds };
  const timer = createRequestTimer(bounds, request.signal);
  let hop: Hop = { method: request.method, url: request.url, headers: request.headers ?? [], body: request.body, isLater: false };
  let isRenewed = false;
  let redirects = 0;
  try {
    for (;;) {
      const sent = await oneHop(way, hop, { request, timer });
      if ("kind" in sent) return ended(timer, sent);
      const { answer, headers } = sent;
      const isMine = request.credentials?.origins.has(hop.url.origin) === true;
      if (answer.statusCode === 401 && isMine && !isRenewed && request.credentials?.refused(headers) === true) {
        // Refused for its credentials, so it was not done; others are there.
        isRenewed = true;
        await answer.body.dump();
        continue;
      }
      const next = nextHop(hop, answer, way.redirectOrigins);
      if (next === undefined) return streamOf(answer, { hop, timer, maxBytes: bounds.responseBytes });
      await answer.body.dump();
      if ("kind" in next) return ended(timer, next);
      redirects += 1;
      if (redirects > bounds.redirects) return ended(timer, { kind: "failed", reason: "redirect", message: `${hop.url.origin} led through more than ${bounds.redirects} redirects`, isSent: true, isTransient: false });
      hop = next;
    }
  } catch (fault) {
    return ended(timer, failureOf(fault, { timer, hop, signal: request.signal }));
  }
}

interface Journey {
  readonly request: HttpRequest;
  readonly timer: RequestTimer;
}

interface Sent {
  readonly answer: Dispatcher.ResponseData;
  /** With the credentials. */
  readonly headers: readonly HeaderPair[];
}

async function oneHop(way: Way, hop: Hop, { request, timer }: Journey): Promise<Sent | HttpFailure> {
  const { protocol, username, password, origin } = hop.url;
  if (protocol !== "http:" && protocol !== "https:") return refused(`${protocol} is not spoken; only http and https are`, hop);
  if (username !== "" || password !== "") return refused(`a URL of ${origin} carries a user or a password; they belong into the credentials`, hop);
  if (!/^[A-Z]+$/.test(hop.method) || hop.method === "CONNECT") return refused(`${hop.method.slice(0, 20)} is no method that can be sent`, hop);
  let url = hop.url;
  let headers = hop.headers;
  if (request.credentials?.origins.has(origin) === true) {
    const applied = await request.credentials.apply({ url, headers }, timer.signal);
    if (applied.kind === "failed") return { ...applied, isSent: hop.isLater };
    ({ url, headers } = applied);
  }
  const fault = headers.map(headerFault).find((one) => one !== undefined);
  if (fault !== undefined) return refused(fault, hop);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const own: readonly HeaderPair[] = [["accept-encoding", acceptedEncodings], ["user-agent", way.userAgent]];
  const answer = await way.agent().request({
    origin,
    path: `${url.pathname}${url.search}`,
    method: hop.method as Dispatcher.HttpMethod,
    headers: [...headers, ...own.filter(([name]) => !names.has(name))].flat(),
    body: hop.body ?? null,
    signal: timer.signal,
  });
  return { answer, headers };
}

interface Arrived {
  readonly hop: Hop;
  readonly timer: RequestTimer;
  readonly maxBytes: number;
}

function streamOf(answer: Dispatcher.ResponseData, arrived: Arrived): HttpStream {
  arrived.timer.begun();
  // Whoever reads it hears of it; a body that nobody reads must not end the process.
  answer.body.on("error", () => undefined);
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return { kind: "streaming", status: answer.statusCode, headers, url: arrived.hop.url, body: bodyOf(answer, headers, arrived) };
}

async function* bodyOf(answer: Dispatcher.ResponseData, headers: Headers, { hop, timer, maxBytes }: Arrived): AsyncGenerator<Uint8Array, void> {
  async function* timed(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
      timer.received();
      yield piece;
    }
  }
  try {
    // An answer to HEAD names the encoding of a body it does not have.
    const encoding = hop.method === "HEAD" ? "" : (headers.get("content-encoding") ?? "");
    yield* decodedBody(timed(), { encoding, maxBytes });
  } catch (fault) {
    throw new HttpFailed(failureOf(fault, { timer, hop: { ...hop, isLater: true } }), fault);
  } finally {
    timer.end();
    answer.body.destroy();
  }
}

function ended(timer: RequestTimer, failure: HttpFailure): HttpFailure {
  timer.end();
  return failure;
}

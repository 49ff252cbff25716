import type { Agent } from "undici";
import { concealBytes, concealText } from "./conceal.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { defaultHttpBounds } from "./http-bounds.ts";
import type { HttpBounds } from "./http-bounds.ts";
import type { HttpRequest } from "./http-request.ts";
import { HttpFailed } from "./http-result.ts";
import type { HttpFailure, HttpResult, HttpStream } from "./http-result.ts";
import { createOriginGuard, originOf } from "./origin-guard.ts";
import type { OriginGuardOptions } from "./origin-guard.ts";
import { sendThrough } from "./send-through.ts";

export interface HttpClientOptions extends OriginGuardOptions {
  /**
   * Other origins that redirects may lead to; credentials never go there. Default none. `any`: every public one, for what is
   * fetched without credentials, such as a document. Never from https to http.
   */
  readonly redirectOrigins?: "any" | readonly string[];
  readonly bounds?: Partial<HttpBounds>;
  /** Authorities beside those of Node, PEM. */
  readonly ca?: string;
  /** Default `callgate`. */
  readonly userAgent?: string;
}

/**
 * The one way of Callgate's to the outside over HTTP. What comes of a request is a value; nothing is thrown for what a
 * network normally does.
 *
 * - Private, loopback, link-local and other special addresses are refused, unless the configuration names the origin.
 *   The address that was judged is the one that is connected to.
 * - Redirects are followed within the origin, each judged anew. A request that changes things is repeated only where the
 *   service asks for the same method (307, 308).
 * - Time and size are bounded while the answer is read.
 */
export interface HttpClient {
  /** Sends a request and reads all of the answer. */
  send(request: HttpRequest): Promise<HttpResult>;
  /** Sends a request and hands over the body as it comes, as it is: nothing is concealed in it. */
  stream(request: HttpRequest): Promise<HttpStream | HttpFailure>;
  /** Ends connections and whatever is under way. Idempotent. */
  close(): Promise<void>;
}

/** Errors: `CallgateError` CONFIG_INVALID for an origin that is none. Nothing is opened before the first request. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const bounds = { ...defaultHttpBounds, ...options.bounds };
  const guard = createOriginGuard(options);
  const redirectOrigins = options.redirectOrigins === "any" ? "any" : new Set((options.redirectOrigins ?? []).map(originOf));
  let agent: Agent | undefined;
  const way = {
    bounds,
    redirectOrigins,
    userAgent: options.userAgent ?? "callgate",
    agent: () => (agent ??= createGuardedAgent({ guard, connectMs: bounds.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) })),
  } as const;
  const stream = (request: HttpRequest): Promise<HttpStream | HttpFailure> => sendThrough(way, request);
  return {
    stream,
    async send(request) {
      const opened = await stream(request);
      if (opened.kind === "failed") return concealed(opened, request);
      try {
        const pieces: Uint8Array[] = [];
        for await (const piece of opened.body) pieces.push(piece);
        const { status, headers, url } = opened;
        return { kind: "answered", status, headers, url, bytes: concealBytes(Buffer.concat(pieces), secretsOf(request)) };
      } catch (fault) {
        if (fault instanceof HttpFailed) return concealed(fault.failure, request);
        throw fault;
      }
    },
    async close() {
      await agent?.destroy();
    },
  };
}

function concealed(failure: HttpFailure, request: HttpRequest): HttpFailure {
  return { ...failure, message: concealText(failure.message, secretsOf(request)) };
}

function secretsOf({ credentials }: HttpRequest): readonly string[] {
  return credentials?.secrets() ?? [];
}

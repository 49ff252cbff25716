import type { Credentials } from "./auth/credentials.ts";
import type { HttpBounds } from "./http-bounds.ts";
import type { HttpClient } from "./http-client.ts";
import { HttpFailed } from "./http-result.ts";

export interface FetchOptions {
  readonly credentials?: Credentials;
  readonly bounds?: Partial<HttpBounds>;
}

/** Statuses whose answers have no body, and for which `Response` takes none. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * The client as a `fetch`, for libraries that take one. Bodies of requests are read whole before they are sent; those of
 * answers stream. Rejects with `HttpFailed`, or with the signal's reason where the caller gave up.
 */
export function createFetch(client: HttpClient, { credentials, bounds }: FetchOptions = {}): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init);
    const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const opened = await client.stream({
      method: request.method,
      url: new URL(request.url),
      headers: [...request.headers],
      signal: request.signal,
      ...(bytes === undefined ? {} : { body: bytes }),
      ...(credentials === undefined ? {} : { credentials }),
      ...(bounds === undefined ? {} : { bounds }),
    });
    if (opened.kind === "failed") {
      request.signal.throwIfAborted();
      throw new HttpFailed(opened);
    }
    const { status, headers, body, url } = opened;
    // It is unpacked by now.
    headers.delete("content-encoding");
    headers.delete("content-length");
    const isEmpty = withoutBody.has(status) || request.method === "HEAD";
    if (isEmpty) await body.next();
    const response = new Response(isEmpty ? null : ReadableStream.from(body), { status, headers });
    Object.defineProperty(response, "url", { value: url.href });
    return response;
  };
}

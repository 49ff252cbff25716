import type { Dispatcher } from "undici";
import { withoutOrigin } from "./header-rules.ts";
import type { Hop } from "./hop.ts";
import type { HttpFailure } from "./http-result.ts";

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where an answer leads: the next request, as fetch would make it; a failure where it may not be followed; undefined where
 * it leads nowhere. To another origin it goes only where that was allowed, without anything that could be a credential.
 */
export function nextHop(hop: Hop, { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">, redirectOrigins: "any" | ReadonlySet<string>): Hop | HttpFailure | undefined {
  const location = [headers["location"] ?? []].flat()[0];
  if (!redirectStatuses.has(statusCode) || location === undefined) return undefined;
  const url = URL.parse(location, hop.url.href);
  if (url === null) return failed(hop, "led to what is no URL");
  url.hash = "";
  const kept = keepsMethod(statusCode, hop.method) ? hop : { ...hop, method: "GET", body: undefined, headers: hop.headers.filter(([name]) => !/^content-/i.test(name)) };
  if (url.origin === hop.url.origin) return { ...kept, url, isLater: true };
  if (hop.url.protocol === "https:" && url.protocol !== "https:") return failed(hop, `led from https to ${url.protocol.replace(":", "")}, which is not followed`);
  const isAllowed = redirectOrigins === "any" ? kept.body === undefined : redirectOrigins.has(url.origin);
  if (!isAllowed) return failed(hop, `led to another origin, ${url.origin.slice(0, 200)}, which is not followed. A person who means it names that origin as one that redirects may lead to, or the right address of the service`);
  return { ...kept, url, headers: withoutOrigin(kept.headers), isLater: true };
}

/** As fetch: 303 asks for the result elsewhere, and 301 and 302 of a POST mean the same. */
function keepsMethod(status: number, method: string): boolean {
  if (status === 303) return method === "GET" || method === "HEAD";
  return !((status === 301 || status === 302) && method === "POST");
}

function failed({ url }: Hop, what: string): HttpFailure {
  return { kind: "failed", reason: "redirect", message: `${url.origin} ${what}`, isSent: true, isTransient: false };
}
